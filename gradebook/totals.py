"""What a student's marks in one sheet make together: the one written rule. Pure; exact until the end, rounded once.

The one thing to know: what a code means is decided before anything is added up, and what is left out leaves the marks *and* what
they are out of. A total is a share of what counted, never of what could have.

- A number counts. **Absent**, **missing** and **blank** count as 0 or are left out, as the sheet's scheme says (absent and missing: 0,
  blank: left out, unless somebody changed it). **Excused** and **exempt** are always left out. One **withheld** mark withholds the total.
- A **bonus** column adds what was got in it and nothing to what it is out of. It never counts as 0, and is never dropped.
- Without categories: points got as a percentage of what they are out of.
- With categories: each category that has something to count makes such a share; of its columns the `drop_lowest` lowest shares are
  dropped first, never the last one that is left (equal shares: the column with the larger maximum, then the later one). The total is
  the mean of these shares by weight. Weights are shares of their sum, whatever the sum is: 19.02, 20.98 and 60 are 19.02 to 20.98 to
  60, and three times 33.33 are thirds. A category with nothing to count takes its weight with it. A column in no category does not count.
- Nothing to count: no total, which is not 0.
- The total is rounded to two decimals, half away from zero, and only then compared with the scale of letters.
"""

import dataclasses
import enum
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Final
from uuid import UUID

from gradebook.entries import BLANK, Entry
from gradebook.models.marks import MarkCode
from gradebook.models.totals import TotalState, Treatment

PERCENT: Final = 100
STEP: Final = Decimal("0.01")
_LEFT_OUT: Final = frozenset({MarkCode.EXCUSED, MarkCode.EXEMPT})
_ROUNDING: Final = Context(prec=60, rounding=ROUND_HALF_UP)


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """A column as totals see it, in the sheet's order."""

    id: UUID
    max_points: Decimal
    category_id: UUID | None = None
    is_bonus: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Group:
    """A category as totals see it."""

    id: UUID
    weight: Decimal
    drop_lowest: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Rules:
    """A sheet's scheme: its categories, what codes mean, and the letters from a least percentage on."""

    groups: tuple[Group, ...] = ()
    absent: Treatment = Treatment.ZERO
    missing: Treatment = Treatment.ZERO
    blank: Treatment = Treatment.LEFT_OUT
    letters: tuple[tuple[str, Decimal], ...] = ()


class Part(enum.Enum):
    """What became of one column in a total."""

    COUNTED = "counted"
    BONUS = "bonus"
    DROPPED = "dropped"
    LEFT_OUT = "left out"
    WITHHELD = "withheld"


@dataclasses.dataclass(frozen=True, slots=True)
class Total:
    """A student's total: a percentage with two decimals and its letter, or the state that says why there is none."""

    state: TotalState
    percent: Decimal | None
    letter: str
    parts: Mapping[UUID, Part]


@dataclasses.dataclass(frozen=True, slots=True)
class _Piece:
    item: Item
    points: Fraction

    @property
    def share(self) -> Fraction:
        return self.points / Fraction(self.item.max_points)


def find_total(items: Sequence[Item], marks: Mapping[UUID, Entry], rules: Rules) -> Total:
    """Return the total of one student. `marks` by column; a column that is not in it is blank."""
    known = {group.id for group in rules.groups}
    counting = [item for item in items if not known or item.category_id in known]
    parts = dict.fromkeys((item.id for item in items), Part.LEFT_OUT)
    entries = {item.id: marks.get(item.id, BLANK) for item in counting}
    withheld = [item.id for item in counting if entries[item.id].code == MarkCode.WITHHELD]
    if withheld:
        return Total(TotalState.WITHHELD, None, "", parts | dict.fromkeys(withheld, Part.WITHHELD))
    pieces = [piece for item in counting if (piece := _read(item, entries[item.id], rules)) is not None]
    kept = _drop(pieces, rules.groups)
    for piece in pieces:
        parts[piece.item.id] = _name_part(piece, kept)
    share = _weigh(kept, rules.groups) if rules.groups else _share_of(kept)
    if share is None:
        return Total(TotalState.NONE, None, "", parts)
    percent = round_percent(share * PERCENT)
    return Total(TotalState.RESULT, percent, find_letter(percent, rules.letters), parts)


def find_letter(percent: Decimal, letters: Iterable[tuple[str, Decimal]]) -> str:
    """Return the letter of the highest step that this percentage reaches; empty below the lowest, or without a scale."""
    reached = [(least, letter) for letter, least in letters if percent >= least]
    return max(reached)[1] if reached else ""


def round_percent(exact: Fraction) -> Decimal:
    """Return a percentage with two decimals, half away from zero, rounded from the exact value once."""
    hundredths = exact * PERCENT
    whole = (2 * hundredths.numerator + hundredths.denominator) // (2 * hundredths.denominator)
    return (Decimal(whole) * STEP).quantize(STEP, context=_ROUNDING)


def _read(item: Item, entry: Entry, rules: Rules) -> _Piece | None:
    """Return what a column counts for, None when it is left out."""
    if entry.value is not None:
        return _Piece(item, Fraction(entry.value))
    treatments = {MarkCode.ABSENT: rules.absent, MarkCode.MISSING: rules.missing, "": rules.blank}
    if entry.code in _LEFT_OUT or item.is_bonus or treatments[entry.code] == Treatment.LEFT_OUT:
        return None
    return _Piece(item, Fraction(0))


def _drop(pieces: Sequence[_Piece], groups: Sequence[Group]) -> list[_Piece]:
    """Return the pieces without the lowest of each category that drops some."""
    order = {piece.item.id: place for place, piece in enumerate(pieces)}
    dropped: set[UUID] = set()
    for group in groups:
        mine = [piece for piece in pieces if piece.item.category_id == group.id and not piece.item.is_bonus]
        lowest = sorted(mine, key=lambda one: (one.share, -one.item.max_points, -order[one.item.id]))
        dropped |= {piece.item.id for piece in lowest[: min(group.drop_lowest, max(0, len(mine) - 1))]}
    return [piece for piece in pieces if piece.item.id not in dropped]


def _name_part(piece: _Piece, kept: Sequence[_Piece]) -> Part:
    if piece not in kept:
        return Part.DROPPED
    return Part.BONUS if piece.item.is_bonus else Part.COUNTED


def _share_of(pieces: Iterable[_Piece]) -> Fraction | None:
    """Return points got over points they are out of; None when they are out of nothing."""
    pieces = list(pieces)
    out_of = sum((Fraction(piece.item.max_points) for piece in pieces if not piece.item.is_bonus), Fraction())
    return sum((piece.points for piece in pieces), Fraction()) / out_of if out_of else None


def _weigh(pieces: Sequence[_Piece], groups: Sequence[Group]) -> Fraction | None:
    """Return the mean of the categories' shares by weight, over the categories that have one."""
    shares = [
        (Fraction(group.weight), share)
        for group in groups
        if (share := _share_of(piece for piece in pieces if piece.item.category_id == group.id)) is not None
    ]
    weight = sum((weight for weight, _ in shares), Fraction())
    return sum((weight * share for weight, share in shares), Fraction()) / weight if weight else None
