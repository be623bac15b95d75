"""Effects in the admin: what waits, what failed and why, and trying it again."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from outbox.admin.read_only import ReadOnly
from outbox.effects.failures import replay_effects
from outbox.models import EffectReceipt, PlannedMoment


@admin.register(EffectReceipt)
class EffectReceiptAdmin(ReadOnly[EffectReceipt]):
    """Every effect of every event, the latest first."""

    list_display = [
        "effect",
        "state",
        "tries",
        "error_line",
        "ended_at",
        "due_at",
        "target",
        "event_id",
    ]
    list_filter = ["state", "effect"]
    search_fields = ["event_id__exact", "target__exact"]
    ordering = ["-pk"]
    actions = ["try_again"]

    @admin.display(description="error")
    def error_line(self, receipt: EffectReceipt) -> str:
        """The first line of the last error."""
        return receipt.error.partition("\n")[0][:120]

    @admin.action(description="Try again what failed or was refused", permissions=["view"])
    def try_again(self, request: HttpRequest, chosen: QuerySet[EffectReceipt]) -> None:
        """Let those that failed or were refused be tried from the first try on."""
        count = replay_effects(ids=chosen.values_list("pk", flat=True))
        messages.success(request, f"{count} will be tried again.")


@admin.register(PlannedMoment)
class PlannedMomentAdmin(ReadOnly[PlannedMoment]):
    """Which periodic work was done when, the latest first."""

    list_display = ["work", "planned_at", "claimed_at", "finished_at", "done", "error"]
    list_filter = ["work"]
    ordering = ["-planned_at"]
