"""Rebuilding beside: the twin is compared row by row, only what differs is taken over, and nobody sees an empty table."""

import pytest
from django.db import connection

from outbox.consumers.batches import BatchOutcome, run_batch
from outbox.consumers.beside import Comparison, Difference, TableComparison, rebuild_beside
from outbox.consumers.consumer import Batch
from outbox.consumers.parking import release_subject
from outbox.consumers.rebuild import rebuild
from outbox.errors import NotRebuildable, RebuildFailed
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer
from outbox.stopping import Stop
from tests.outbox.consumers.noted import TABLE, ThingsNoted, deliver, ignore, noted, stop, tamper
from tests.outbox.things import append, append_things, new_event
from tests.sessions import Sessions, sessions

__all__ = ["noted", "sessions", "stop"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_beside_finds_nothing_to_take_over_when_the_tables_are_right(noted: ThingsNoted, stop: Stop) -> None:
    append_things(3)
    deliver(noted)

    comparison = rebuild_beside(noted, stop, report=ignore)

    assert comparison == Comparison(position=3, tables=[TableComparison(TABLE, 0, 0, 0, [])])
    assert Consumer.objects.get().generation == 1


def test_beside_takes_over_exactly_what_differs_and_reports_it(noted: ThingsNoted, stop: Stop) -> None:
    append_things(4)
    deliver(noted)
    before = noted.list_rows()
    tamper(f"UPDATE {TABLE} SET note = 'false' WHERE pos = 2")
    tamper(f"DELETE FROM {TABLE} WHERE pos = 3")
    tamper(f"INSERT INTO {TABLE} VALUES (99, 'thing:9', 9, NULL)")
    untouched = f"SELECT array_agg(ctid::text ORDER BY pos) FROM {TABLE} WHERE pos IN (1, 4)"
    with connection.cursor() as cursor:
        cursor.execute(untouched)
        places = cursor.fetchone()

    comparison = rebuild_beside(noted, stop, report=ignore)

    row = {"subject": "thing:1", "note": None}
    assert comparison == Comparison(
        position=4,
        tables=[
            TableComparison(
                table=TABLE,
                missing=1,
                extra=1,
                different=1,
                first=[
                    Difference(
                        live={**row, "pos": 2, "version": 2, "note": "false"},
                        twin={**row, "pos": 2, "version": 2},
                    ),
                    Difference(live=None, twin={**row, "pos": 3, "version": 3}),
                    Difference(live={**row, "pos": 99, "subject": "thing:9", "version": 9}, twin=None),
                ],
            )
        ],
    )
    assert noted.list_rows() == before
    assert Consumer.objects.get().generation == 2
    with connection.cursor() as cursor:
        cursor.execute(untouched)
        assert cursor.fetchone() == places


def test_beside_changes_nothing_when_only_asked_to_compare(noted: ThingsNoted, stop: Stop) -> None:
    append_things(2)
    deliver(noted)
    tamper(f"DELETE FROM {TABLE} WHERE pos = 1")

    comparison = rebuild_beside(noted, stop, report=ignore, swap=False)

    assert comparison is not None
    assert comparison.total == 1
    assert noted.list_noted() == [("thing:1", 2)]
    assert Consumer.objects.get().generation == 1


def test_beside_never_shows_an_empty_table_even_to_an_old_snapshot(
    noted: ThingsNoted, sessions: Sessions, stop: Stop
) -> None:
    append_things(3)
    deliver(noted)
    tamper(f"UPDATE {TABLE} SET note = 'false'")
    reader = sessions.open()
    reader.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    count = f"SELECT count(*) FROM {TABLE} WHERE note = 'false'"
    assert reader.run(count) == 3

    rebuild_beside(noted, stop, report=ignore)

    assert reader.run(count) == 3
    reader.commit()
    assert reader.run(count) == 0


def test_beside_compares_at_the_live_cursor_when_the_consumer_goes_on_meanwhile(
    noted: ThingsNoted, stop: Stop
) -> None:
    append_things(2)
    deliver(noted)

    def go_on(_done: int, _total: int) -> None:
        append_things(2, first=3)
        deliver(noted)
        reports.append(1)

    reports: list[int] = []
    comparison = rebuild_beside(
        noted, stop, report=lambda done, total: go_on(done, total) if not reports else None
    )

    assert comparison == Comparison(position=4, tables=[TableComparison(TABLE, 0, 0, 0, [])])


def test_beside_leaves_out_what_is_parked_and_fills_in_what_was_released_meanwhile(
    noted: ThingsNoted, stop: Stop
) -> None:
    append([new_event("thing:1"), new_event("thing:2")])
    sequence_events()

    def refuse(batch: Batch) -> None:
        if 1 in batch.positions:
            raise ValueError

    noted.interrupt = refuse
    while run_batch(noted).outcome is not BatchOutcome.NOTHING_NEW:
        pass
    noted.interrupt = None
    same = Comparison(position=2, tables=[TableComparison(TABLE, 0, 0, 0, [])])

    assert rebuild_beside(noted, stop, report=ignore) == same
    assert rebuild_beside(noted, stop, report=lambda *_: release_subject(noted, "thing:1")) == same
    assert noted.list_noted() == [("thing:1", 1), ("thing:2", 1)]


def test_beside_leaves_nothing_behind_when_interrupted(noted: ThingsNoted, stop: Stop) -> None:
    append_things(2)
    deliver(noted)
    tamper(f"DELETE FROM {TABLE} WHERE pos = 1")
    stop.set()

    assert rebuild_beside(noted, stop, report=ignore) is None

    assert noted.list_noted() == [("thing:1", 2)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_class WHERE relname LIKE '%%twin'")
        assert cursor.fetchone() == (0,)


def test_beside_stops_and_changes_nothing_when_an_event_cannot_be_applied(
    noted: ThingsNoted, stop: Stop
) -> None:
    append_things(2)
    deliver(noted)
    tamper(f"DELETE FROM {TABLE} WHERE pos = 1")

    def refuse(batch: Batch) -> None:
        if 2 in batch.positions:
            raise ValueError("no")

    noted.interrupt = refuse
    with pytest.raises(RebuildFailed, match=r"position 2 cannot be applied \(ValueError: no\)"):
        rebuild_beside(noted, stop, report=ignore)

    assert noted.list_noted() == [("thing:1", 2)]


def test_beside_gives_way_to_a_rebuild_in_place(noted: ThingsNoted, stop: Stop) -> None:
    append_things(2)
    before = deliver(noted)

    with Stop() as other, pytest.raises(RebuildFailed, match="rebuilt by somebody else"):
        rebuild_beside(noted, stop, report=lambda *_: rebuild(noted, other, report=ignore))

    assert noted.list_noted() == before


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("DROP CONSTRAINT things_noted_pkey", "it has no primary key"),
        ("ADD COLUMN number bigint GENERATED ALWAYS AS IDENTITY", "its number would differ every time"),
        ("ADD COLUMN number bigserial", "its number would differ every time"),
    ],
)
def test_beside_is_refused_when_rows_could_not_be_compared(
    change: str, reason: str, noted: ThingsNoted, stop: Stop
) -> None:
    append_things(1)
    deliver(noted)
    tamper(f"ALTER TABLE {TABLE} {change}")

    with pytest.raises(NotRebuildable, match=reason):
        rebuild_beside(noted, stop, report=ignore)
