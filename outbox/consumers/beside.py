"""Rebuilding a projection beside the live one: fill a twin from the log, compare row by row, take over what differs.

The twin is a temporary table, so an interrupted rebuild leaves nothing behind. Taking over is one transaction that changes only the
rows that differ: readers see the old content, then the new, never an empty table, not even in an old snapshot (a table that
is swapped in by name would look empty there: docs/adr/0007-rebuild-beside.md).
"""

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from django.db import connection
from psycopg import sql

from outbox.consumers.consumer import Batch, ConsumerHandler, Projection
from outbox.consumers.cursors import batch_transaction, find_look, get_checked_head, lock_consumer
from outbox.consumers.poison import apply_until_poison
from outbox.consumers.tables import Tables, bind_live_tables, bind_twin_tables, get_projection
from outbox.db import bind_tables, fetch_row, load_sql
from outbox.errors import NotRebuildable, RebuildFailed
from outbox.models.consumers import Consumer
from outbox.stopping import Stop

REPLAYED_AT_ONCE: Final = 5_000
SHOWN: Final = 10

Report = Callable[[int, int], object]  # (position, the live cursor), after every chunk


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """One row that differs; None stands for "no such row"."""

    live: dict[str, Any] | None
    twin: dict[str, Any] | None


@dataclasses.dataclass(frozen=True, slots=True)
class TableComparison:
    """What a comparison found in one table: how many rows are missing, too many or different, and the first few of them."""

    table: str
    missing: int
    extra: int
    different: int
    first: list[Difference]

    @property
    def total(self) -> int:
        """How many rows differ in any way."""
        return self.missing + self.extra + self.different


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """The twin against the live tables, both at the same position."""

    position: int
    tables: list[TableComparison]

    @property
    def total(self) -> int:
        """How many rows differ in any way; 0 is parity."""
        return sum(table.total for table in self.tables)


@dataclasses.dataclass
class _Twin:
    """How far the twin is, and the events it left out because they waited with a parked subject."""

    projection: Projection
    tables: Tables
    generation: int
    position: int = 0
    left_out: list[int] = dataclasses.field(default_factory=list)


def rebuild_beside(
    handler: ConsumerHandler, stop: Stop, *, report: Report, swap: bool = True
) -> Comparison | None:
    """Fill a twin up to the live cursor, compare, and (with `swap`) take over what differs; None when told to stop before.

    The live consumer goes on meanwhile; it only waits for the comparison at the end. Raises NotRebuildable, RebuildFailed.
    """
    projection = get_projection(handler)
    keys = {table: _get_key(table) for table in projection.tables}
    look = find_look(projection.name)
    if look is None:
        raise RebuildFailed(f"{projection.name} never ran: there is nothing to compare with.")
    with _twin_tables(projection) as tables:
        twin = _Twin(projection, tables, look.generation)
        if not _catch_up(twin, stop, report):
            return None
        return _finish(twin, keys, swap=swap)


def _catch_up(twin: _Twin, stop: Stop, report: Report) -> bool:
    """Fill the twin until it meets the live cursor, which may move on meanwhile."""
    while not stop.is_set:
        look = find_look(twin.projection.name)
        assert look is not None
        _refuse_other_generation(twin, look.generation)
        if twin.position >= look.cursor.pos:
            return True
        with batch_transaction(durability="off"):
            _fill(twin, min(twin.position + REPLAYED_AT_ONCE, look.cursor.pos))
        report(twin.position, look.cursor.pos)
    return False


def _finish(twin: _Twin, keys: Mapping[str, list[str]], *, swap: bool) -> Comparison:
    """Bring the twin to exactly where the live tables are, under the consumer's lock, compare, and take over."""
    with batch_transaction():
        consumer = lock_consumer(twin.projection.name)
        _refuse_other_generation(twin, consumer.generation)
        get_checked_head(consumer)
        while twin.position < consumer.position:
            _fill(twin, min(twin.position + REPLAYED_AT_ONCE, consumer.position))
        _fill_in_released(twin, consumer)
        names = {table: _name(twin, table, key) for table, key in keys.items()}
        comparison = Comparison(
            consumer.position, [_compare(table, names[table]) for table in twin.projection.tables]
        )
        if swap and comparison.total:
            for each in names.values():
                _execute("delete_unlike_twin", each)
                _execute("insert_from_twin", each)
            consumer.generation += 1
            consumer.save(update_fields=["generation"])
    return comparison


def _fill(twin: _Twin, upto: int) -> None:
    parameters: dict[str, Any] = {
        "name": twin.projection.name,
        "kinds": list(twin.projection.kinds),
        "after": twin.position,
        "upto": upto,
    }
    with connection.cursor() as cursor:
        positions, left_out = fetch_row(cursor, "outbox", "list_twin_positions", parameters)
    _apply(twin, positions)
    twin.left_out += left_out
    twin.position = upto


def _fill_in_released(twin: _Twin, consumer: Consumer) -> None:
    """Apply what waited when the twin passed it and was released since; a subject's own order is kept."""
    waiting = set(
        consumer.parked_subjects.filter(events__pos__in=twin.left_out).values_list("events__pos", flat=True)
    )
    _apply(twin, [pos for pos in twin.left_out if pos not in waiting])


def _apply(twin: _Twin, positions: list[int]) -> None:
    poison = apply_until_poison(lambda some: twin.projection.apply(Batch(some, twin.tables)), positions)
    if poison:
        message = f"The event at position {poison.pos} cannot be applied ({poison.description}). The live tables are as they were."
        raise RebuildFailed(message) from poison.error


def _refuse_other_generation(twin: _Twin, generation: int) -> None:
    if generation != twin.generation:
        raise RebuildFailed(
            f"{twin.projection.name} was rebuilt by somebody else meanwhile. Nothing was changed."
        )


@contextmanager
def _twin_tables(projection: Projection) -> Iterator[Tables]:
    live, twins = bind_live_tables(projection), bind_twin_tables(projection)
    names = [{"live": live[table], "twin": twins[table]} for table in projection.tables]
    for each in names:
        _execute("drop_twin", each)
        _execute("create_twin", each)
    try:
        yield twins
    finally:
        for each in names:
            _execute("drop_twin", each)


def _get_key(table: str) -> list[str]:
    with connection.cursor() as cursor:
        key, unrepeatable = fetch_row(cursor, "outbox", "describe_table", {"table": table})
    if not key or unrepeatable:
        reason = (
            f"its {', '.join(unrepeatable)} would differ every time"
            if unrepeatable
            else "it has no primary key"
        )
        raise NotRebuildable(f"{table} cannot be compared row by row: {reason}.")
    return list(key)


def _name(twin: _Twin, table: str, key: list[str]) -> dict[str, sql.Composable]:
    columns = sql.SQL(", ").join(map(sql.Identifier, key))
    return {"live": sql.Identifier(table), "twin": twin.tables[table], "key": columns}


def _compare(table: str, names: Mapping[str, sql.Composable]) -> TableComparison:
    missing, extra, different = _execute("count_differences", names)[0]
    rows = _execute("list_differences", names, limit=SHOWN) if missing or extra or different else []
    first = [Difference(*(json.loads(side) if side else None for side in row)) for row in rows]
    return TableComparison(table, missing, extra, different, first)


def _execute(name: str, names: Mapping[str, sql.Composable], **parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(bind_tables(load_sql("outbox", name), names), parameters or None)
        return cursor.fetchall() if cursor.description else []
