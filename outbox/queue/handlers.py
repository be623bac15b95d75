"""What a kind of job has to offer to be run by the worker, and the registry that other apps fill at start.

The one thing to know: `prepare` runs without a transaction and may run twice for one job (a lease can be lost),
`write` runs inside the settling transaction and only while the lease is still held. So an effect belongs in
`write`, and nowhere else.
"""

import dataclasses
import datetime as dt
from collections.abc import Sequence
from typing import Any, Protocol
from uuid import UUID


@dataclasses.dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job in the worker's hands. `tries` counts this one; `lease_id` is the fence."""

    tenant_id: UUID
    group_id: UUID
    job_id: UUID
    kind: str
    subject_id: UUID
    lane: int
    tries: int
    snoozes: int
    lost_leases: int
    lease_id: UUID
    created_at: dt.datetime


@dataclasses.dataclass(frozen=True, slots=True)
class Done:
    """The work is done; `value` is the handler's own and comes back to it in `write`."""

    job: ClaimedJob
    value: Any = None


@dataclasses.dataclass(frozen=True, slots=True)
class PermanentFailure:
    """The work can never succeed. The domain says so in `write`, as a status with this reason; the job is finished."""

    job: ClaimedJob
    reason: str
    value: Any = None


@dataclasses.dataclass(frozen=True, slots=True)
class Transient:
    """The work may succeed later: tried again at most three times, within the retry budget (`outbox.queue.retry`)."""

    job: ClaimedJob
    error: Exception


Outcome = Done | PermanentFailure | Transient
Verdict = Done | PermanentFailure


class Handler(Protocol):
    """One kind of work. Registered once per process with `register_handler`, in `AppConfig.ready`."""

    @property
    def kind(self) -> str:
        """The kind of job it takes, as in `NewJob.kind`."""

    def prepare(self, jobs: Sequence[ClaimedJob]) -> Sequence[Outcome]:
        """Read and work out the outcome of every job, one each, in any order. Takes no locks and writes nothing.

        One claim is one call (1 to 250 jobs of this kind, of one or several groups), so read set-based. An exception
        makes the worker ask again for each job alone; then a transient database error is retried, and any other
        exception is a defect: that job becomes a dead letter.
        """

    def write(self, verdicts: Sequence[Verdict]) -> None:
        """Write the effects and their events, set-based, in the transaction that settles the jobs.

        Runs after the jobs' rows are locked under their lease. Lock the subjects in key order before publishing.
        An exception rolls back the whole batch, which is then settled one by one.
        """


_handlers: dict[str, Handler] = {}


def register_handler(handler: Handler) -> None:
    """Let workers of this process take jobs of `handler.kind`. Registering the same kind again is a defect."""
    known = _handlers.setdefault(handler.kind, handler)
    if known is not handler:
        message = f"Two handlers for {handler.kind!r}: {known!r} and {handler!r}."
        raise ValueError(message)


def get_handler(kind: str) -> Handler:
    """Return the handler of this kind, or raise `LookupError` naming those there are."""
    try:
        return _handlers[kind]
    except KeyError:
        message = f"No handler for jobs of kind {kind!r}; there are: {', '.join(list_kinds()) or 'none'}."
        raise LookupError(message) from None


def list_kinds() -> list[str]:
    """Return the kinds this process can work on, sorted."""
    return sorted(_handlers)
