"""A projection for the tests, with a real table: it notes down every thing it is told of, in the order it is told."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.db import connection

from outbox.consumers import registry
from outbox.consumers.batches import run_batch
from outbox.consumers.consumer import Batch
from outbox.log.sequencer import sequence_events
from outbox.stopping import Stop
from tests.outbox.things import NOTED

TABLE = "things_noted"
OTHER_TABLE = "things_noted_again"
CREATE = """
    CREATE TABLE {table} (
        pos bigint PRIMARY KEY,
        subject varchar(120) NOT NULL,
        version integer NOT NULL,
        note text CHECK (note <> 'poison'),
        UNIQUE (subject, version) DEFERRABLE INITIALLY DEFERRED
    )
"""


class ThingsNoted:
    """The test projection. `interrupt`, when set, is called in the middle of each batch's transaction, after its writing."""

    kinds = frozenset({NOTED})
    staleness_budget = timedelta(seconds=2)

    def __init__(self, name: str = "things_noted", table: str = TABLE) -> None:
        self.name = name
        self.tables = (table,)
        self.interrupt: Callable[[Batch], None] | None = None

    def apply(self, batch: Batch) -> None:
        tables = {TABLE: batch.tables[self.tables[0]]}
        Batch(batch.positions, tables).execute("tests.outbox.consumers", "note_things")
        if self.interrupt:
            self.interrupt(batch)

    def list_noted(self) -> list[tuple[str, int]]:
        """Return (subject, version) of everything noted, in order of position."""
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT subject, version FROM {self.tables[0]} ORDER BY pos")
            return list(cursor.fetchall())

    def list_rows(self) -> list[tuple[int, str, int, str | None]]:
        """Return all rows, in order of position."""
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT pos, subject, version, note FROM {self.tables[0]} ORDER BY pos")
            return list(cursor.fetchall())


def deliver(handler: ThingsNoted) -> list[tuple[str, int]]:
    """Number what is visible now, let the consumer catch up, and return everything it has noted so far."""
    sequence_events()
    while run_batch(handler).more:
        pass
    return handler.list_noted()


def _make(name: str, table: str) -> Iterator[ThingsNoted]:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {table}")
        cursor.execute(CREATE.format(table=table))
    handler = ThingsNoted(name, table)
    registry.register(handler)
    try:
        yield handler
    finally:
        registry.unregister(name)
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {table}")


@pytest.fixture
def noted(transactional_db: None) -> Iterator[ThingsNoted]:
    """The test projection with its table, registered. Real commits: the sequencer and other sessions must see them."""
    yield from _make("things_noted", TABLE)


@pytest.fixture
def noted_again(transactional_db: None) -> Iterator[ThingsNoted]:
    """A second one, to compare the first with."""
    yield from _make("things_noted_again", OTHER_TABLE)


@pytest.fixture
def stop() -> Iterator[Stop]:
    """What a rebuild asks whether to stop."""
    with Stop() as each:
        yield each


def ignore(_done: int, _total: int) -> None:
    """Report to nobody."""


def tamper(statement: str) -> None:
    """Change a table behind everybody's back."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
