"""What passes through the gate: one student's hand-in, and the verdict it gets."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from uuid_utils.compat import uuid7

from exams.receipts import Receipt


@dataclasses.dataclass(slots=True, eq=False)
class HandIn:
    """One request that waits for its verdict. Its ids are made once, so that a second try cannot store it twice.

    `arrived_at` and `not_before` are of `time.monotonic()`. `losses` counts the tries whose connection was lost under way:
    after one, it may have been committed without our hearing of it. `request_id`: what the request called itself, if it did.
    """

    attempt_id: UUID
    student_id: UUID
    answers: str
    digest: str
    arrived_at: float = dataclasses.field(default_factory=time.monotonic)
    submission_id: UUID = dataclasses.field(default_factory=uuid7)
    event_id: UUID = dataclasses.field(default_factory=uuid7)
    not_before: float = 0.0
    losses: int = 0
    request_id: UUID | None = None


class Outcome(StrEnum):
    """What became of a hand-in. The first six are the words of `accept_submissions.sql`, which says the rule."""

    ACCEPTED = "accepted"
    REPLAYED = "replayed"
    DIFFERENT = "different"
    CLOSED = "closed"
    NOT_FOUND = "not_found"
    BUSY = "busy"
    NOT_STORED = "not_stored"
    UNKNOWN = "unknown"


class Verdict(NamedTuple):
    """The outcome with what is told about it: the stored receipt, and when and by which rule the attempt ends."""

    outcome: Outcome
    receipt: Receipt | None = None
    closed_at: datetime | None = None
    rule: str = ""


NOT_STORED = Verdict(Outcome.NOT_STORED)
UNKNOWN = Verdict(Outcome.UNKNOWN)

Deliver = Callable[[Sequence[tuple[HandIn, Verdict]]], None]
