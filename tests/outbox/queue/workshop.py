"""A small kind of work to try the queue on: it notes every subject it did in the event log.

What it does is real (reads, events, transactions), only the subject matter is not. A second effect would show: it would be a
second `Noted` event of that subject, with version 2.
"""

import datetime as dt
import functools
import os
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import models, transaction

from outbox.log.publish import Actor, NewEvent, publish
from outbox.models import Event
from outbox.models.log import ActorType
from outbox.queue import handlers
from outbox.queue.claim import Claim, Claimer
from outbox.queue.handlers import ClaimedJob, Done, Outcome, Verdict
from outbox.queue.jobs import NewJob, enqueue
from outbox.queue.settle import Settled, prepare, settle

KIND = "note"
TENANT = uuid.UUID(int=1)
EXAM = uuid.UUID(int=100)
WORKER = Actor(ActorType.WORKER)
LEASE = dt.timedelta(seconds=60)


class Workshop:
    """Does jobs of one kind. `fate` decides the outcome of one job, `on_write` may disturb the writing."""

    def __init__(
        self,
        fate: Callable[[ClaimedJob], Outcome] = Done,
        *,
        kind: str = KIND,
        on_write: Callable[[Sequence[Verdict]], None] = lambda _: None,
    ) -> None:
        self.kind = kind
        self.fate = fate
        self.on_write = on_write
        self.calls: list[list[ClaimedJob]] = []  # the batches that `prepare` saw

    def prepare(self, jobs: Sequence[ClaimedJob]) -> Sequence[Outcome]:
        self.calls.append(list(jobs))
        return [self.fate(job) for job in jobs]

    def write(self, verdicts: Sequence[Verdict]) -> None:
        subjects = [name_subject(verdict.job.subject_id) for verdict in verdicts]
        known = Counter(Event.objects.filter(subject__in=subjects).values_list("subject", flat=True))
        publish(
            NewEvent("Noted", subject, known[subject] + 1, WORKER, {"verdict": type(verdict).__name__})
            for subject, verdict in zip(subjects, verdicts, strict=True)
        )
        self.on_write(verdicts)


def name_subject(subject_id: uuid.UUID) -> str:
    return f"note:{subject_id}"


def make_jobs(count: int, *, first: int = 0, **fields: Any) -> list[NewJob]:
    """Return jobs for subjects numbered from `first`, due in that order; the name of a field wins over its default."""
    defaults: dict[str, Any] = {"kind": KIND, "group_id": EXAM, "tenant_id": TENANT}
    return [
        NewJob(**(defaults | {"subject_id": uuid.UUID(int=number), "run_at": arrival(number)} | fields))
        for number in range(first, first + count)
    ]


def arrival(number: int) -> dt.datetime:
    """Return when the job of this number is due: a minute ago, a millisecond after the one before."""
    return get_start() + dt.timedelta(milliseconds=number)


def get_start() -> dt.datetime:
    """Return a moment a minute before the test at hand began, the same for all of it. (What was due when the run began is old work by now.)"""
    return _find_start(os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0])


@functools.cache
def _find_start(_test: str) -> dt.datetime:
    return dt.datetime.now(dt.UTC) - dt.timedelta(minutes=1)


def queue(count: int, **fields: Any) -> list[NewJob]:
    """Make jobs and commit them to the queue."""
    jobs = make_jobs(count, **fields)
    with transaction.atomic():
        enqueue(jobs)
    return jobs


def make_claimer(*, kinds: Sequence[str] = (KIND,), batch: int = 50, per_group: int = 50) -> Claimer:
    return Claimer(kinds=kinds, lease=LEASE, batch=batch, per_group=per_group)


def claim_batch(*, batch: int = 50, by: uuid.UUID | None = None) -> Claim:
    """Claim what a new worker would claim first; there must be something."""
    claim = make_claimer(batch=batch).claim(by=by)
    assert claim is not None
    return claim


def work_on(workshop: Workshop, claim: Claim) -> Counter[Settled]:
    """Do a batch as a worker does."""
    return settle(workshop, prepare(workshop, claim.jobs))


def number_of(subject_id: uuid.UUID) -> int:
    """Return the number a job of `make_jobs` was made from."""
    return subject_id.int


def numbers_of(claim: Claim | None) -> list[int]:
    """Return the numbers of the claimed jobs, in order of arrival; none for no claim."""
    return [number_of(job.subject_id) for job in claim.jobs] if claim else []


def read_row(model: type[models.Model]) -> dict[str, Any]:
    """Return the only row of a table, whole."""
    return dict(model._default_manager.values().get())


def read_notes() -> dict[str, int]:
    """Return how often each subject was noted."""
    return dict(Counter(Event.objects.filter(kind="Noted").values_list("subject", flat=True)))


@contextmanager
def registered(handler: handlers.Handler) -> Iterator[None]:
    """Have this process know the handler for a while."""
    handlers.register_handler(handler)
    try:
        yield
    finally:
        handlers._handlers.pop(handler.kind)
