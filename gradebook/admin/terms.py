"""Scales of letters are made here; amendments and report cards are for reading, since they change through their own pages."""

from django.contrib import admin
from django.http import HttpRequest

from gradebook.admin.scoping import M, SchoolScoped, SchoolScopedInline, StaysInItsSchool
from gradebook.models import Amendment, LetterScale, LetterStep, ReportCard


class ForReading(SchoolScoped[M]):
    """A list to look things up in."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Rows come from services."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        """Rows change through services, with their events."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        """What was said stays said."""
        return False


class LetterStepInline(SchoolScopedInline):
    """The letters of a scale."""

    model = LetterStep
    extra = 3


@admin.register(LetterScale)
class LetterScaleAdmin(StaysInItsSchool[LetterScale]):
    """Scales of letters; a sheet chooses one in its rules for totals."""

    school_path = "school"
    list_display = ("name", "school")
    list_select_related = ("school",)
    search_fields = ("name",)
    inlines = (LetterStepInline,)


@admin.register(Amendment)
class AmendmentAdmin(ForReading[Amendment]):
    """Amendments, whatever became of them."""

    school_path = "sheet__school"
    list_display = ("student", "column", "period", "state", "proposed_by", "decided_by", "proposed_at")
    list_filter = ("state", "source")
    list_select_related = ("student", "column", "period", "proposed_by", "decided_by")
    search_fields = ("student__username", "student__last_name", "column__title", "reason")


@admin.register(ReportCard)
class ReportCardAdmin(ForReading[ReportCard]):
    """Report cards, those that were replaced too."""

    school_path = "school"
    list_display = ("student", "period", "school_class", "number", "issued_at", "replaced_at")
    list_filter = (("period", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("student", "period", "school_class")
    search_fields = ("student__username", "student__last_name", "code")
