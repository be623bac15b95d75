"""How values are put into the bars of a distribution: one bar a mark where marks are few and whole, else tenths of the maximum. Pure."""

import dataclasses
from collections.abc import Mapping
from fractions import Fraction

_MOST_SINGLE = 15  # bars that still fit a phone
_TENTHS = 10


@dataclasses.dataclass(frozen=True, slots=True)
class Bin:
    """A bar: the values from `low` to below `high` (the last one: up to it), or exactly `low` where the two are one."""

    low: Fraction
    high: Fraction
    number: int

    @property
    def is_single(self) -> bool:
        """Whether it stands for one value."""
        return self.low == self.high


def share_out_values(counts: Mapping[Fraction, int], highest: Fraction) -> list[Bin]:
    """Return the bars from 0 to `highest`, empty ones too; every value is in exactly one."""
    is_whole = all(value.denominator == 1 for value in (*counts, highest))
    if is_whole and highest < _MOST_SINGLE:
        values = map(Fraction, range(int(highest) + 1))
        return [Bin(value, value, counts.get(value, 0)) for value in values]
    edges = [highest * place / _TENTHS for place in range(_TENTHS + 1)]
    numbers = [0] * _TENTHS
    for value, count in counts.items():
        numbers[min(int(value * _TENTHS / highest), _TENTHS - 1)] += count
    return [Bin(*each) for each in zip(edges, edges[1:], numbers, strict=False)]
