"""Weights for an author who only says which answers are right."""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import NamedTuple

from exams.paper.drafts import Kind

FULL = Decimal(100)
_FINEST = Decimal("0.00001")


class Tick(NamedTuple):
    """One answer: whether its author called it right, and the weight they wrote beside it, if they wrote one."""

    is_right: bool
    weight: Decimal | None


def even_weights(kind: Kind, ticks: Sequence[Tick]) -> list[Decimal]:
    """Return a weight in percent for each answer; written ones are kept.

    In multiple choice the right choices share 100 % and the wrong ones -100 %, so that ticking everything earns nothing. Elsewhere
    every right answer is worth 100 % and every other one nothing.
    """
    if kind != "multiple_choice":
        return [tick.weight if tick.weight is not None else FULL * tick.is_right for tick in ticks]
    written = [tick.weight for tick in ticks if tick.weight is not None]
    right = _share(FULL - sum(weight for weight in written if weight > 0), _count(ticks, is_right=True))
    wrong = _share(-FULL - sum(weight for weight in written if weight < 0), _count(ticks, is_right=False))
    return [tick.weight if tick.weight is not None else (right if tick.is_right else wrong) for tick in ticks]


def _count(ticks: Sequence[Tick], *, is_right: bool) -> int:
    return sum(tick.weight is None and tick.is_right is is_right for tick in ticks)


def _share(total: Decimal, among: int) -> Decimal:
    return (total / max(among, 1)).quantize(_FINEST, ROUND_HALF_EVEN)
