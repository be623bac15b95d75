"""A student's attempts at one exam in plain Python: the written rules of sitting, grading and counting, to hold the product against.

The paper is a true/false question for 1 point and an essay for 4.
"""

import dataclasses
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

OUT_OF = 5
Given = tuple[
    bool | None, bool
]  # what was answered to the statement, which is true; whether there is an essay


@dataclasses.dataclass
class Sat:
    """What the rules say of an attempt; `given` is what was handed in, `events` are the kinds the log has of it."""

    is_open: bool = True
    kept: Given | None = None
    given: Given | None = None
    is_by_server: bool = False
    is_graded: bool = False
    essay: Decimal | None = None
    events: list[str] = dataclasses.field(default_factory=lambda: ["AttemptStarted"])

    @property
    def state(self) -> str:
        """The state as it is stored."""
        if self.is_open:
            return "open"
        if self.given is None:
            return "not_taken"
        if not self.is_graded:
            return "submitted"
        return "needs_marking" if self.waits else "graded"

    @property
    def waits(self) -> bool:
        """Whether an essay waits for points."""
        return bool(self.given and self.given[1]) and self.essay is None

    @property
    def score(self) -> Decimal:
        """The points so far."""
        return Decimal(bool(self.given and self.given[0])) + (self.essay or 0)

    def hand_in(self, given: Given, *, by_server: bool = False) -> None:
        """Hand in, by whoever."""
        self.given, self.is_by_server, self.is_open = given, by_server, False
        self.is_graded, self.essay = False, None
        self.events.append("SubmissionAccepted")

    def end(self) -> None:
        """The server finds the time to be over: what was kept is handed in, and nothing is no hand-in."""
        if self.kept and self.kept != (None, False):
            self.hand_in(self.kept, by_server=True)
        else:
            self.is_open = False
            self.events.append("AttemptNotTaken")

    def move(self, *, is_last: bool, to_the_future: bool) -> None:
        """The deadline moves: an open attempt hears of it, the last one that the server ended is opened again."""
        if self.is_open:
            self.events.append("DeadlineMoved")
        elif to_the_future and is_last and (self.given is None or self.is_by_server):
            self.is_open, self.given, self.is_by_server, self.is_graded, self.essay = (
                True,
                None,
                False,
                False,
                None,
            )
            self.events.append("AttemptReopened")


def find_mark(policy: str, sat: Sequence[Sat]) -> Decimal | None:
    """Return the mark, out of as many points, that these attempts make; None while there is none."""
    found = [each for each in sat if each.given is not None and each.is_graded]
    if policy == "last":
        found = found[-1:]
    scores = [Fraction(each.score) for each in found if not each.waits]
    if not scores:
        return None
    mark = sum(scores) / len(scores) if policy == "average" else max(scores)
    return Decimal((mark * 2000 + 1) // 2).scaleb(-3)
