"""How far behind a consumer is, in the words a screen needs: seconds, its budget, and whether it is being rebuilt.

Staleness is the age of the oldest event not yet applied, never a count; the heartbeat says whether anybody is working on it.
"""

import dataclasses
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import connection

from outbox.consumers import registry
from outbox.db import fetch_row, load_sql
from outbox.log.reading import Position


@dataclasses.dataclass(frozen=True, slots=True)
class ConsumerStatus:
    """One consumer as it is now. A consumer that never ran is at position 0 and has no heartbeat."""

    name: str
    state: str
    generation: int
    position: Position
    head: Position
    staleness: timedelta
    budget: timedelta
    heartbeat_at: datetime | None
    is_rebuilding: bool  # its tables are being filled again and are not complete yet, paused or not
    parked_subjects: int

    @property
    def is_stale(self) -> bool:
        """Whether it is further behind than it may be: screens say so as soon as it is."""
        return self.staleness > self.budget

    @property
    def is_of_another_epoch(self) -> bool:
        """Whether its cursor is of another epoch than the log, which was restored or moved: it does not run until somebody has adopted it."""
        return (self.position.epoch, self.position.shard) != (self.head.epoch, self.head.shard)

    @property
    def waiting(self) -> int:
        """How many positions are before it (for people; alarms go by staleness)."""
        return self.head.pos - self.position.pos


def get_consumer_status(name: str) -> ConsumerStatus:
    """Return a consumer's status in one query; raise UnknownConsumer for a name nobody registered."""
    (status,) = list_consumer_statuses([name])
    return status


def list_consumer_statuses(names: Iterable[str] | None = None) -> list[ConsumerStatus]:
    """Return the status of these consumers, or of all that are registered, in one query."""
    known = registry.list_consumers()
    handlers = known if names is None else [registry.get_consumer(name) for name in names]
    budgets = {handler.name: handler.staleness_budget for handler in handlers}
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "list_consumer_statuses"), {"names": list(budgets)})
        rows = cursor.fetchall()
    return [
        ConsumerStatus(
            name=row[0],
            state=row[1],
            generation=row[2],
            position=Position(*row[3:6]),
            head=Position(*row[6:9]),
            staleness=timedelta(seconds=row[9]),
            budget=budgets[row[0]] if row[10] is None else timedelta(seconds=row[10]),
            heartbeat_at=row[11],
            is_rebuilding=row[12],
            parked_subjects=row[13],
        )
        for row in rows
    ]


def get_sequencer_lag() -> timedelta:
    """Return the age of the oldest event that has no position yet: what a dead or slow sequencer shows as."""
    with connection.cursor() as cursor:
        (seconds,) = fetch_row(cursor, "outbox", "get_sequencer_lag", {})
    return timedelta(seconds=seconds)
