"""What counts and sums say: mean, median, deviation, difficulty, discrimination. Pure and exact; only roots are rounded, to four places.

Definitions. The standard deviation is that of a whole population: a class is not a sample of itself. A question's difficulty is the share of
its points that was got. Its discrimination is the corrected item-total correlation: Pearson's r between the points of the question and
the score without them (Nunnally & Bernstein, Psychometric Theory, 1994, ch. 8).
"""

import dataclasses
import math
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

FEWEST = 5  # below it, a figure says more about single people than about the work
WEAK = Decimal("0.2")  # the usual rule of thumb: a question that tells less apart is worth a look
HARD, EASY = Fraction(3, 10), Fraction(9, 10)

_DIGITS = 4


@dataclasses.dataclass(frozen=True, slots=True)
class Summary:
    """Of at least one value: how many, and where they lie."""

    number: int
    mean: Fraction
    median: Fraction
    deviation: Decimal
    lowest: Fraction
    highest: Fraction

    @property
    def is_small(self) -> bool:
        """Whether these are too few to conclude anything from."""
        return self.number < FEWEST


@dataclasses.dataclass(frozen=True, slots=True)
class Sums:
    """Exact sums over the attempts that met a question: x is its points, t the whole score."""

    number: int
    x: Fraction
    xx: Fraction
    xt: Fraction
    t: Fraction
    tt: Fraction


def summarise(counts: Mapping[Fraction, int]) -> Summary | None:
    """Return the figures of values by how often each occurs; None where there is none."""
    number = sum(counts.values())
    if not number:
        return None
    total = sum((value * count for value, count in counts.items()), Fraction(0))
    squares = sum((value * value * count for value, count in counts.items()), Fraction(0))
    return Summary(
        number=number,
        mean=total / number,
        median=(_value_at(counts, (number - 1) // 2) + _value_at(counts, number // 2)) / 2,
        deviation=take_root((number * squares - total * total) / number**2),
        lowest=min(counts),
        highest=max(counts),
    )


def get_difficulty(sums: Sums, out_of: Fraction) -> Fraction:
    """Return the share of the points that was got; the higher, the easier."""
    return sums.x / (sums.number * out_of)


def find_discrimination(sums: Sums) -> Decimal | None:
    """Return how well a question tells apart who does well in the rest, from -1 to 1; None where nothing can be said.

    That is with fewer than five attempts, and where all got the same points for the question, or for the rest.
    """
    rest, rest_squares = sums.t - sums.x, sums.tt - 2 * sums.xt + sums.xx
    together = sums.number * (sums.xt - sums.xx) - sums.x * rest
    spread = (sums.number * sums.xx - sums.x**2) * (sums.number * rest_squares - rest**2)
    if sums.number < FEWEST or not spread:
        return None
    root = take_root(together**2 / spread)
    return root if together >= 0 else -root


def round_discrimination(found: Decimal) -> Decimal:
    """Return a discrimination with the two decimals it is shown with. Words about it go by these: none is said of 0.00 that is true of -0.004."""
    return found.quantize(Decimal("0.01"), ROUND_HALF_UP)


def take_root(square: Fraction) -> Decimal:
    """Return the square root, rounded half up to four places; exact integers all the way, so the same on every machine."""
    scaled = math.isqrt(square.numerator * 10 ** (2 * _DIGITS + 2) // square.denominator)
    return Decimal((scaled + 5) // 10).scaleb(-_DIGITS)


def _value_at(counts: Mapping[Fraction, int], place: int) -> Fraction:
    """Return the value in this place, from 0, if all were laid out in a row."""
    for value in sorted(counts):
        place -= counts[value]
        if place < 0:
            return value
    raise IndexError(place)
