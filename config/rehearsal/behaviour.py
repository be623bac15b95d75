"""How people hand in, and when they try again. Pure, and free of Django: the processes that send import nothing else."""

import enum
import random
from typing import NamedTuple

ACCEPTED = frozenset({200, 202})
NO_ANSWER = 0  # the status of a try that heard nothing
WORTH_ANOTHER_TRY = frozenset({NO_ANSWER, 408, 425, 429, 500, 502, 503, 504})
FIRST_GAP, LONGEST_GAP = (
    1.0,
    20.0,
)  # seconds; the exam page's own rule: growing gaps with jitter, never before Retry-After


class Manner(enum.StrEnum):
    """What a student, their browser or their network does."""

    PLAIN = "once"
    TWICE = "twice at once"
    AGAIN = "again after the receipt"
    SLOW = "over a slow line"
    HANGS_UP = "hangs up after sending"


OWN_DELAY = frozenset({Manner.SLOW, Manner.HANGS_UP})  # their receipts are late whatever the gate does
SHARES = {
    Manner.TWICE: 0.05,
    Manner.AGAIN: 0.05,
    Manner.SLOW: 0.02,
    Manner.HANGS_UP: 0.03,
}  # all others hand in once


class Student(NamedTuple):
    """Who hands in what, when (seconds from the begin of the window), and how."""

    attempt_id: str
    token: str
    body: bytes
    due_at: float
    manner: Manner


class Try(NamedTuple):
    """One request as its sender remembers it; times are seconds from the begin of the window."""

    sent_at: float
    heard_at: float
    status: int


class Outcome(NamedTuple):
    """What a student holds in the end: every receipt they were given, letter for letter, and every try."""

    attempt_id: str
    due_at: float
    manner: Manner
    receipts: list[bytes]
    tries: list[Try]

    @property
    def acknowledged_at(self) -> float | None:
        """When the first receipt was in hand."""
        return min((made.heard_at for made in self.tries if made.status in ACCEPTED), default=None)


def draw_manner(dice: random.Random) -> Manner:
    """Return how one student hands in."""
    [manner] = dice.choices([*SHARES, Manner.PLAIN], [*SHARES.values(), 1 - sum(SHARES.values())])
    return manner


def wait_before_retry(tries: int, retry_after: float, dice: random.Random) -> float:
    """Return the seconds to wait after so many tries without a receipt."""
    gap = min(LONGEST_GAP, FIRST_GAP * 2.0 ** (tries - 1)) * dice.uniform(0.5, 1.0)
    return max(gap, retry_after)
