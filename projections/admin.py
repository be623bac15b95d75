"""The administration's view of the read models: to be read; the log alone writes them."""

from django.contrib import admin

from outbox.admin.read_only import ReadOnly
from projections.history.lines import describe_change
from projections.models import MarkHistory


@admin.register(MarkHistory)
class MarkHistoryAdmin(ReadOnly[MarkHistory]):
    """Changes of marks, newest first (an event's id rises with time); found by the id of their sheet."""

    list_display = ("occurred_at", "student_name", "column_title", "change", "actor_name", "pos")
    search_fields = ("sheet_id__exact",)
    search_help_text = "The whole id of a mark sheet."
    ordering = ("-event_id",)

    @admin.display(description="change")
    def change(self, line: MarkHistory) -> str:
        """Old and new mark, and why."""
        shown = describe_change(line)
        return f"{shown.old} → {shown.new}, {shown.why}"
