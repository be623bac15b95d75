"""Which mark a student's attempts at one exam make: best, last or average. Pure.

A result that waits for a person, or that failed, makes no mark. `last` looks at the last attempt with any result: while that one
waits, there is nothing to post, and an older attempt's mark does not stand in for it.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from exams.models import CountingAttempt, ResultState


class AttemptResult(NamedTuple):
    """What came of one attempt; `score` is empty if grading failed."""

    number: int
    state: str
    score: Decimal | None
    max_points: Decimal | None


def find_mark(policy: str, results: Sequence[AttemptResult], *, out_of: Decimal) -> Decimal | None:
    """Return the mark these results make in a column of `out_of` points, or None while there is none.

    Results out of another maximum (an older revision's) count by their share. Exact, then rounded half up to a thousandth once.
    """
    if policy == CountingAttempt.LAST:
        results = sorted(results)[-1:]
    shares = [share for result in results if (share := _share(result)) is not None]
    if not shares:
        return None
    share = sum(shares, Fraction(0)) / len(shares) if policy == CountingAttempt.AVERAGE else max(shares)
    return _round(share * Fraction(out_of))


def _share(result: AttemptResult) -> Fraction | None:
    """Return the share of its points that a finished result has earned; of no points at all, nothing."""
    if result.state != ResultState.GRADED or result.score is None or not result.max_points:
        return None
    return Fraction(result.score) / Fraction(result.max_points)


def _round(mark: Fraction) -> Decimal:
    """Return a mark, which is never negative, rounded half up to a thousandth."""
    return Decimal((2000 * mark.numerator + mark.denominator) // (2 * mark.denominator)).scaleb(-3)
