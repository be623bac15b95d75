"""Effects that failed for good or were refused: reading them, and trying one again by hand when the cause is gone."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import QuerySet
from django.db.models.functions import Now

from outbox.effects.registry import find_effect
from outbox.models import EffectReceipt, EffectState


def list_failed_effects(*, effect: str | None = None) -> QuerySet[EffectReceipt]:
    """Return what failed, the longest failed first."""
    failed = EffectReceipt.objects.filter(state=EffectState.FAILED).order_by("ended_at", "id")
    return failed.filter(effect=effect) if effect else failed


def list_refused_effects(*, effect: str | None = None) -> QuerySet[EffectReceipt]:
    """Return what was refused, the latest first: nobody has to work through these."""
    refused = EffectReceipt.objects.filter(state=EffectState.REFUSED).order_by("-ended_at", "-id")
    return refused.filter(effect=effect) if effect else refused


def name_targets(receipts: Iterable[EffectReceipt]) -> list[tuple[EffectReceipt, str]]:
    """Return each with whom it was for, in the words of its effect; as the receipt has it where there are none. A query an effect at most."""
    listed = list(receipts)
    targets = defaultdict(set)
    for receipt in listed:
        targets[receipt.effect].add(receipt.target)
    names = {
        (effect.name, target): name
        for effect in map(find_effect, targets)
        if effect is not None and effect.name_targets is not None
        for target, name in effect.name_targets(targets[effect.name]).items()
    }
    return [(each, names.get((each.effect, each.target), each.target)) for each in listed]


def replay_effects(*, ids: Iterable[int]) -> int:
    """Let these be tried again from the first try on; return how many there were. One that neither failed nor was refused is left alone."""
    unhappened = EffectReceipt.objects.filter(
        pk__in=list(ids), state__in=[EffectState.FAILED, EffectState.REFUSED]
    )
    return unhappened.update(state=EffectState.PENDING, tries=0, due_at=Now(), resend_at=Now(), ended_at=None)
