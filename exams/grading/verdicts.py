"""What a question says about one answer: the share of its points, exactly, and how that came about."""

import dataclasses
from fractions import Fraction
from typing import Literal

VerdictState = Literal["right", "partial", "wrong", "blank", "unreadable", "needs_marking"]


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """`share` is between 0 and 1."""

    share: Fraction
    state: VerdictState
    note: str = ""


BLANK = Verdict(Fraction(0), "blank")
UNREADABLE = Verdict(Fraction(0), "unreadable", "This answer is not in a form this question can read.")
NEEDS_MARKING = Verdict(Fraction(0), "needs_marking")


def verdict(share: Fraction, note: str = "") -> Verdict:
    """Return the verdict for a share of the points; below 0 counts as 0 and above 1 as 1."""
    if share <= 0:
        return Verdict(Fraction(0), "wrong", note)
    if share >= 1:
        return Verdict(Fraction(1), "right", note)
    return Verdict(share, "partial", note)
