"""What clients saw, held against what the tables say at the end: not counts, each acknowledgement by itself.

A client writes down every try: what it sent, what it heard, when. `find_faults` joins that with the submissions of the server that is the
primary in the end.
"""

import dataclasses
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from http.client import HTTPException
from typing import Any
from uuid import UUID

from tests.posting import Answer, Poster, Sitting

ACKNOWLEDGED = (200, 202)


@dataclasses.dataclass(frozen=True, slots=True)
class Try:
    """One request as its client remembers it. `status` is 0 when no answer came."""

    attempt_id: UUID
    status: int
    code: str
    receipt: Mapping[str, Any]
    sent_at: float
    heard_at: float

    @property
    def is_acknowledged(self) -> bool:
        """Whether the client holds a receipt now."""
        return self.status in ACKNOWLEDGED


@dataclasses.dataclass(frozen=True, slots=True)
class Stored:
    """A submission as the final primary has it."""

    id: str
    attempt_id: UUID
    payload_sha256: str


class History:
    """The log of all clients together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.tries: list[Try] = []

    def hand_in(self, poster: Poster, sitting: Sitting, answers: dict[str, Any]) -> Try:
        """Send once, and write down what came of it."""
        sent_at = time.monotonic()
        try:
            answer = poster.hand_in(sitting, answers)
        except (OSError, HTTPException):
            answer = Answer(0, {}, {})
        made = Try(
            sitting.attempt_id,
            answer.status,
            answer.code,
            answer.body if answer.status in ACKNOWLEDGED else {},
            sent_at,
            time.monotonic(),
        )
        with self._lock:
            self.tries.append(made)
        return made

    @property
    def acknowledged(self) -> dict[UUID, list[Try]]:
        """The receipts each attempt's client holds."""
        held = defaultdict(list)
        for made in self.tries:
            if made.is_acknowledged:
                held[made.attempt_id].append(made)
        return dict(held)

    def count_answers(self) -> dict[str, int]:
        """Return how often each answer was heard."""
        return dict(Counter(made.code or str(made.status) for made in self.tries))


def find_faults(history: History, stored: Iterable[Stored]) -> list[str]:
    """Return everything that must not be, each in a line that names it; empty when every promise was kept."""
    by_attempt: dict[UUID, list[Stored]] = defaultdict(list)
    for submission in stored:
        by_attempt[submission.attempt_id].append(submission)
    faults = [
        f"double: {attempt} has {len(rows)} submissions"
        for attempt, rows in by_attempt.items()
        if len(rows) > 1
    ]
    for attempt, receipts in history.acknowledged.items():
        faults += _compare(attempt, receipts, by_attempt.get(attempt, []))
    return faults


def _compare(attempt: UUID, receipts: Sequence[Try], rows: Sequence[Stored]) -> list[str]:
    if not rows:
        return [f"lost: {attempt} was acknowledged {len(receipts)} times and is not there"]
    faults = []
    if len({str(sorted(made.receipt.items())) for made in receipts}) > 1:
        faults.append(f"changed: {attempt} got different receipts")
    held = receipts[-1].receipt
    if (held["id"], held["payload_sha256"]) != (rows[0].id, rows[0].payload_sha256):
        faults.append(f"other: {attempt} holds a receipt for something else than what is stored")
    return faults
