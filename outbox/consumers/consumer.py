"""What a consumer is: a name, the kinds of event it cares about, and `apply()`, which does one batch's work.

The runner (`outbox.consumers.following`, `outbox.consumers.batches`) reads, locks, retries, parks and advances; a handler only writes, set-based, inside the runner's
transaction. It must not commit, must not depend on the clock or on the size of a batch, and meets every event of its kinds
exactly once, in order of position (a parked subject's events later, still in their own order).
"""

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol, runtime_checkable

from django.db import connection
from psycopg import sql

from outbox.db import bind_tables, load_sql
from outbox.log.reading import StoredEvent, list_events_at

ON_REPEAT = sql.SQL("ON CONFLICT DO NOTHING")


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """The work of one `apply()`: positions in rising order, never empty, and the tables to write to.

    `tables` maps each of a projection's table names to the table to fill: itself, or its twin in a rebuild beside it.
    """

    positions: Sequence[int]
    tables: Mapping[str, sql.Identifier] = dataclasses.field(default_factory=dict)

    def read_events(self) -> list[StoredEvent]:
        """Return the events themselves, in order, for a handler that works in Python (one indexed read)."""
        return list_events_at(self.positions)

    def execute(self, package: str, name: str, **parameters: Any) -> int:
        """Run `<package>/sql/<name>.sql` over the batch and return how many rows it wrote.

        In the file, `%(positions)s::bigint[]` is this batch, which reaches from `%(first)s` to `%(last)s`; `%(listed)s::bigint[]` is
        NULL where it has every position between the two, so that the range alone says it. `%(first_seq)s::bigint` and `%(last_seq)s`
        are NULL: a batch is small enough to look up its events one by one. `{app_table}` is one of the projection's tables;
        `{on_repeat}`, at the end of an INSERT, leaves a row that is there already as it is.
        """
        return _execute(
            package, name, {**self.tables, "on_repeat": ON_REPEAT}, parameters | self._parameters()
        )

    def count_kinds(self) -> dict[str, int]:
        """Return how many events of each kind there are: a consumer of several kinds runs only what it has work for. One read."""
        return _count_kinds(self._parameters())

    def _parameters(self) -> dict[str, Any]:
        positions, first, last = list(self.positions), self.positions[0], self.positions[-1]
        listed = None if len(positions) == last - first + 1 else positions
        return {
            "positions": positions,
            "first": first,
            "last": last,
            "listed": listed,
            "first_seq": None,
            "last_seq": None,
            "kinds": None,
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """All events of these kinds from `first` to `last`, for tables that cannot hold any of them yet.

    What of the range is of these kinds the statement finds out while it reads it: asking before costs a visit to every event. All of
    them are between `first_seq` and `last_seq` in the log's own order, beside others of other spans.
    """

    first: int
    last: int
    first_seq: int
    last_seq: int
    kinds: frozenset[str]
    tables: Mapping[str, sql.Identifier]

    def execute(self, package: str, name: str, **parameters: Any) -> int:
        """Run `<package>/sql/<name>.sql` over the span and return how many rows it wrote.

        As `Batch.execute`, but `%(listed)s` is always NULL and `%(kinds)s::text[]` is not: the statement must filter by it. And it
        should say that an event lies between `%(first_seq)s` and `%(last_seq)s`: a span is large enough to be joined as a whole, and
        from the positions alone the planner would join the whole log. `{on_repeat}` is empty: a row that is there already is an error.
        """
        names = {**self.tables, "on_repeat": sql.SQL("")}
        return _execute(package, name, names, parameters | self._parameters())

    def count_kinds(self) -> dict[str, int]:
        """As `Batch.count_kinds`."""
        return _count_kinds(self._parameters())

    def _parameters(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "last": self.last,
            "listed": None,
            "first_seq": self.first_seq,
            "last_seq": self.last_seq,
            "kinds": list(self.kinds),
        }


def _execute(
    package: str, name: str, names: Mapping[str, sql.Composable], parameters: Mapping[str, Any]
) -> int:
    with connection.cursor() as cursor:
        cursor.execute(bind_tables(load_sql(package, name), names), parameters)
        return int(cursor.rowcount)


def _count_kinds(parameters: Mapping[str, Any]) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "count_kinds"), parameters)
        return dict(cursor.fetchall())


class ConsumerHandler(Protocol):
    """Somebody who follows the log. Register an instance with `outbox.consumers.registry.register`."""

    @property
    def name(self) -> str:
        """Its name, in commands, heartbeats and its cursor's row: for ever."""

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of event it cares about; others are passed over without being read."""

    @property
    def staleness_budget(self) -> timedelta:
        """How far behind it may be before screens say so."""

    def apply(self, batch: Batch) -> None:
        """Do the batch's work. An exception undoes it: transient database errors are retried, others are poison."""


@runtime_checkable
class Projection(ConsumerHandler, Protocol):
    """A consumer whose tables hold nothing but what the log says: they may be thrown away and filled again.

    Every row must follow from the events alone, and each table needs a primary key that does too (no serial numbers, no clock),
    so that two fillings can be compared row by row.
    """

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables."""


@runtime_checkable
class FillableProjection(Projection, Protocol):
    """A projection that a rebuild may fill a whole span of the log at a time, without asking which events are in it."""

    def fill(self, span: Span) -> int:
        """Do what `apply` would do with the span's events, and return how many there were. An exception undoes it."""
