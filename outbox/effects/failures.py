"""Effects that failed for good: reading them, and trying one again by hand when the cause is gone."""

from collections.abc import Iterable

from django.db.models import QuerySet
from django.db.models.functions import Now

from outbox.models import EffectReceipt, EffectState


def list_failed_effects(*, effect: str | None = None) -> QuerySet[EffectReceipt]:
    """Return what failed, the longest failed first."""
    failed = EffectReceipt.objects.filter(state=EffectState.FAILED).order_by("ended_at", "id")
    return failed.filter(effect=effect) if effect else failed


def replay_effects(*, ids: Iterable[int]) -> int:
    """Let these be tried again from the first try on; return how many there were. One that did not fail is left alone."""
    failed = EffectReceipt.objects.filter(pk__in=list(ids), state=EffectState.FAILED)
    return failed.update(state=EffectState.PENDING, tries=0, due_at=Now(), resend_at=Now(), ended_at=None)
