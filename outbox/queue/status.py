"""The queue as it is now, for meters, the console and alarms: ages first, depths second.

`get_queue_status()` asks five small questions; one of them reads the hot table once, so ask every few seconds, not in every request.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from django.db import connection

from outbox.db import load_sql
from outbox.models.jobs import Lane
from outbox.queue.streams import BACKLOG_AGE_BUDGET, FRESH_AGE_BUDGET, FRESH_FOR
from outbox.queue.tallies import BOUNDS, COUNTS, find_percentile

SNAPSHOT_BUDGET = 60.0  # seconds anybody may hold a snapshot open before we name them
HOLDERS_SHOWN = 5


@dataclasses.dataclass(frozen=True, slots=True)
class LaneStatus:
    """What is due in one lane and has not been taken: how much, and how long its oldest job has been due, in seconds."""

    ready: int
    oldest_age: float
    budget: float


@dataclasses.dataclass(frozen=True, slots=True)
class SnapshotHolder:
    """Who keeps dead rows alive. `seconds` is None where the server does not know since when."""

    kind: str
    name: str
    seconds: float | None
    transactions: int


@dataclasses.dataclass(frozen=True, slots=True)
class QueueStatus:
    """`counts` are those of `outbox.queue.tallies.COUNTS` over the last `seconds` (one to two minutes); claims are in seconds."""

    lanes: Mapping[Lane, LaneStatus]
    put_off: int
    running: int
    expired: int
    suspects: int
    dead_letters: int
    oldest_dead_letter_age: float
    seconds: float
    counts: Mapping[str, int]
    claim_p99: float | None
    dead_rows: int
    snapshot_holders: tuple[SnapshotHolder, ...]

    @property
    def finished_per_second(self) -> float:
        """The rate at which jobs end well."""
        return self.counts["finished"] / self.seconds

    @property
    def retry_ratio(self) -> float:
        """Retries to first tries; 0 where nothing was tried."""
        return self.counts["retries"] / max(1, self.counts["first_tries"])

    @property
    def alarms(self) -> list[str]:
        """What a person should look at, in sentences; empty when all is well."""
        late = [
            f"The oldest job of the {lane.label.lower()} lane has waited for {status.oldest_age:.0f} s."
            for lane, status in self.lanes.items()
            if status.oldest_age > status.budget
        ]
        held = [
            f"The {holder.kind} {holder.name} has held a snapshot for {holder.seconds:.0f} s: dead rows pile up."
            for holder in self.snapshot_holders
            if holder.seconds is not None and holder.seconds > SNAPSHOT_BUDGET
        ]
        dead = [f"{self.dead_letters} jobs were given up and wait for a person."] if self.dead_letters else []
        return late + held + dead


def get_queue_status() -> QueueStatus:
    """Return the queue's status, read without locks."""
    jobs = _fetch("count_jobs", fresh_for=FRESH_FOR)[0]
    told = _fetch("add_up_tallies", places=len(BOUNDS) + 1)[0]
    letters = _fetch("count_dead_letters")[0]
    return QueueStatus(
        lanes={
            Lane.FRESH: LaneStatus(jobs["fresh"], jobs["fresh_age"], FRESH_AGE_BUDGET),
            Lane.BACKLOG: LaneStatus(jobs["backlog"], jobs["backlog_age"], BACKLOG_AGE_BUDGET),
        },
        put_off=jobs["put_off"],
        running=jobs["running"],
        expired=jobs["expired"],
        suspects=jobs["suspects"],
        dead_letters=letters["open"],
        oldest_dead_letter_age=letters["oldest"],
        seconds=told["seconds"],
        counts={name: told[name] for name in COUNTS},
        claim_p99=find_percentile(told["claims"], 0.99),
        dead_rows=_fetch("count_dead_rows")[0]["dead_rows"],
        snapshot_holders=list_snapshot_holders(),
    )


def list_snapshot_holders() -> tuple[SnapshotHolder, ...]:
    """Return the few who have held a snapshot longest."""
    return tuple(SnapshotHolder(**row) for row in _fetch("list_snapshot_holders", at_most=HOLDERS_SHOWN))


def _fetch(statement: str, **parameters: Any) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", statement), parameters)
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
