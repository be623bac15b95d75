"""A small mark sheet in plain Python: the written rules of a cell and of a total, without a database, to hold the product against."""

import dataclasses
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

Where = tuple[int, int]  # column, student


@dataclasses.dataclass
class Cell:
    """What the rules say of a cell: what it shows (None: there never was a mark), since which version, and what happened to it."""

    shown: str | None = None
    version: int = 0
    shown_version: int = 0
    is_own: bool = False
    found: str | None = None
    found_at: int = -1
    proposed_at: int = -1
    steps: list[tuple[str, str | None, str]] = dataclasses.field(default_factory=list)

    def write(self, text: str, reason: str) -> None:
        """Show something else, by a teacher's hand."""
        self.steps.append((reason, self.shown, text))
        self.version += 1
        self.shown, self.shown_version, self.is_own = text, self.version, True

    def post(self, value: str, minute: int) -> None:
        """Take a result in: shown, kept beside a teacher's own mark, or no news."""
        if value == self.found or minute < self.found_at:
            return
        keeps = self.is_own and bool(self.shown)
        self.found, self.found_at = value, minute
        self.version += 1
        if keeps:
            self.steps.append(("kept_beside", self.shown, str(self.shown)))
            return
        self.steps.append(("posted", self.shown, value))
        self.shown, self.shown_version, self.is_own = value, self.version, False


def find_total(shown: Sequence[tuple[str, int]]) -> str:
    """Return a total of marks and maxima by the rules where nobody has set any: absent is 0, excused and blank are left out, none is "".

    One withheld mark withholds it.
    """
    counts = [(text, most) for text, most in shown if text not in {"", "excused"}]
    if not counts or any(text == "withheld" for text, _ in counts):
        return ""
    got = sum((Fraction(0 if text == "absent" else text) for text, _ in counts), Fraction(0))
    share = got / sum(most for _, most in counts) * 100
    exact = Decimal(share.numerator) / Decimal(share.denominator)
    return str(exact.quantize(Decimal("0.01"), ROUND_HALF_UP))
