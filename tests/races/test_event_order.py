"""The interleavings I1 to I6, I14 and I25 (docs/adr/0001-event-order.md) and cases O14, O15: no event is lost, doubled or reordered.

Every step stands where the test puts it, on connections of its own; nothing sleeps.
"""

from contextlib import suppress

import psycopg
import pytest
from django.db import IntegrityError, connection
from psycopg import sql
from psycopg.errors import DuplicateDatabase

from config.postgres import Cluster
from config.postgres.place import SUPERUSER
from outbox.consumers.batches import run_batch
from outbox.consumers.staleness import get_consumer_status
from outbox.log.sequencer import PassOutcome, sequence_events
from outbox.models import Event, EventPosition, Tick
from tests.outbox.consumers.noted import ThingsNoted, deliver, noted
from tests.outbox.things import append, append_things, new_event
from tests.races.dense import assert_positions_are_dense
from tests.sessions import Session, Sessions, sessions

__all__ = ["noted", "sessions"]
pytestmark = pytest.mark.django_db(transaction=True)


OTHERS_MAY_TAKE = 5_000  # transaction ids, on the same server meanwhile: its other databases are in use too


class NaiveReader:
    """What we must not be: it remembers the highest sequence number it has seen."""

    def __init__(self) -> None:
        self.last = 0
        self.seen: list[str] = []

    def read(self) -> None:
        for event in Event.objects.filter(seq__gt=self.last).order_by("seq"):
            self.seen.append(event.subject)
            self.last = event.seq


def test_i1_o14_event_with_the_lower_number_that_commits_later_is_delivered_once(
    noted: ThingsNoted, sessions: Sessions
) -> None:
    a, b = sessions.open(), sessions.open()
    naive = NaiveReader()
    lower = a.append("thing:a")
    higher = b.append("thing:b")
    assert lower < higher
    b.commit()
    naive.read()
    assert deliver(noted) == [("thing:b", 1)]

    a.commit()
    naive.read()

    assert deliver(noted) == [("thing:b", 1), ("thing:a", 1)]
    assert deliver(noted) == [("thing:b", 1), ("thing:a", 1)]
    assert naive.seen == ["thing:b"], "the naive reader must lose it, or this test proves nothing"
    assert_positions_are_dense()


def test_i2_number_burned_by_a_rollback_holds_nobody_up(noted: ThingsNoted, sessions: Sessions) -> None:
    a, b = sessions.open(), sessions.open()
    a.append("thing:a")
    b.append("thing:b")
    b.commit()
    deliver(noted)
    a.rollback()
    append_things(1, subject="thing:c")

    assert deliver(noted) == [("thing:b", 1), ("thing:c", 1)]
    assert_positions_are_dense()


def test_i3_number_taken_long_before_any_transaction_id_is_delivered_when_it_commits(
    noted: ThingsNoted, sessions: Sessions
) -> None:
    a, b = sessions.open(), sessions.open()
    early = _take_number_without_transaction_id(a)
    b.append("thing:b")
    b.commit()
    deliver(noted)

    a.run(
        "INSERT INTO outbox_event (seq, event_id, kind, subject, subject_version, actor_type, payload)"
        " OVERRIDING SYSTEM VALUE VALUES (%s, gen_random_uuid(), 'ThingNoted', 'thing:a', 1, 'policy', '{}')",
        early,
    )
    a.commit()

    assert deliver(noted) == [("thing:b", 1), ("thing:a", 1)]
    assert_positions_are_dense()


def _take_number_without_transaction_id(session: Session) -> int:
    """Take a sequence number; every 32nd, and the first after a checkpoint, is logged and costs an id: then take another."""
    for _ in range(5):
        number = int(session.run("SELECT nextval('outbox_event_seq_seq')"))
        if session.run("SELECT pg_current_xact_id_if_assigned()") is None:
            return number
        session.commit()
    raise AssertionError("Five numbers in a row were logged.")


@pytest.fixture
def other_database(server: Cluster, db: None) -> str:
    """Another database of the same server, one for each worker of the run.

    It goes away with the server: dropping it would wait for a checkpoint of everything the run has written.
    """
    name = f"somebody_else_of_{connection.settings_dict['NAME']}"
    with (
        psycopg.connect(server.url(SUPERUSER, "postgres"), autocommit=True) as admin,
        suppress(DuplicateDatabase),
    ):
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return server.url(SUPERUSER, name)


def test_i4_long_transactions_here_or_in_another_database_delay_only_their_own_events(
    noted: ThingsNoted, sessions: Sessions, other_database: str
) -> None:
    here, elsewhere, reader = sessions.open(), sessions.open(other_database), sessions.open()
    here.append("thing:slow")
    elsewhere.take_xid()
    reader.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    reader.run("SELECT count(*) FROM outbox_event")

    for version in range(1, 6):
        append_things(1, first=version)
        assert deliver(noted) == [("thing:1", each) for each in range(1, version + 1)]
    assert get_consumer_status(noted.name).staleness.total_seconds() == 0

    here.commit()
    assert deliver(noted)[-1] == ("thing:slow", 1)
    assert_positions_are_dense()


@pytest.mark.parametrize("passes", [{1, 2, 3}, {3}, {1}, {2}, set()])
def test_i5_cell_keeps_its_order_when_the_older_transaction_writes_it_last(
    passes: set[int], noted: ThingsNoted, sessions: Sessions
) -> None:
    def perhaps_pass(point: int) -> None:
        if point in passes:
            deliver(noted)

    first, second, third = sessions.open(), sessions.open(), sessions.open()
    older = first.take_xid()
    third.take_xid()
    perhaps_pass(1)
    assert second.take_xid() > older
    second.append("thing:1", 1)
    second.commit()
    perhaps_pass(2)
    first.append("thing:1", 2)
    first.commit()
    perhaps_pass(3)
    third.rollback()

    assert deliver(noted) == [("thing:1", 1), ("thing:1", 2)]


def test_i6_savepoint_rolled_back_and_redone_delivers_only_what_was_kept(
    noted: ThingsNoted, sessions: Sessions
) -> None:
    a = sessions.open()
    a.append("thing:1", 1)
    a.run("SAVEPOINT here")
    a.append("thing:1", 2)
    deliver(noted)
    a.run("ROLLBACK TO SAVEPOINT here")
    a.append("thing:1", 2)
    a.append("thing:1", 3)
    deliver(noted)
    a.commit()

    assert deliver(noted) == [("thing:1", 1), ("thing:1", 2), ("thing:1", 3)]
    assert_positions_are_dense()


def test_i6_hundred_subtransactions_overflow_the_snapshot_and_nothing_is_lost(
    noted: ThingsNoted, sessions: Sessions
) -> None:
    a = sessions.open()
    for version in range(1, 101):
        a.run(f"SAVEPOINT s{version}")
        a.append("thing:1", version)
        if version % 25 == 0:
            append_things(1, subject=f"thing:other {version}")
            deliver(noted)
    a.run("ROLLBACK TO SAVEPOINT s91")
    a.commit()

    delivered = deliver(noted)

    assert [version for subject, version in delivered if subject == "thing:1"] == list(range(1, 91))
    assert len(delivered) == 90 + 4
    assert_positions_are_dense()


def test_i14_batch_that_splits_a_tick_goes_on_with_its_rest_before_the_next_tick(noted: ThingsNoted) -> None:
    append_things(5)
    sequence_events()
    assert run_batch(noted, limit=3).position == 3
    append_things(2, subject="thing:2")
    sequence_events()

    positions = [run_batch(noted, limit=3).position for _ in range(2)]

    assert positions == [6, 7]
    assert noted.list_noted() == [("thing:1", version) for version in range(1, 6)] + [
        ("thing:2", 1),
        ("thing:2", 2),
    ]


def test_i25_order_holds_where_the_transaction_id_gets_another_digit(
    noted: ThingsNoted, sessions: Sessions
) -> None:
    session = sessions.open()
    session.connection.autocommit = True
    boundary = 10 ** len(str(session.take_xid() + OTHERS_MAY_TAKE))
    burn_transaction_ids(session, boundary - session.take_xid() - OTHERS_MAY_TAKE)
    running = sessions.open()
    running.append("thing:running")
    _append_and_deliver(noted, range(1, 21))
    assert session.take_xid() < boundary

    burn_transaction_ids(session, boundary - session.take_xid())
    _append_and_deliver(noted, range(21, 41))
    assert session.take_xid() > boundary
    running.commit()

    delivered = deliver(noted)

    assert [version for subject, version in delivered if subject == "thing:1"] == list(range(1, 41))
    assert delivered.count(("thing:running", 1)) == 1
    assert_positions_are_dense()


def _append_and_deliver(noted: ThingsNoted, versions: range) -> None:
    for version in versions:
        append_things(1, first=version)
        if version % 7 == 0:
            deliver(noted)


def burn_transaction_ids(session: Session, count: int) -> None:
    session.run("SET synchronous_commit = off")
    session.run(
        f"DO $$ BEGIN FOR each IN 1..{count} LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$"
    )


def test_o15_thousands_of_burned_numbers_are_stepped_over_without_a_sign(
    noted: ThingsNoted, sessions: Sessions
) -> None:
    append_things(1)
    deliver(noted)
    session = sessions.open()
    for number in range(50):
        session.cursor.executemany(
            "INSERT INTO outbox_event (event_id, kind, subject, subject_version, actor_type, payload)"
            " VALUES (gen_random_uuid(), 'ThingNoted', %s, 1, 'policy', '{}')",
            [(f"thing:{number}.{each}",) for each in range(100)],
        )
        session.rollback()
    ticks = Tick.objects.count()

    outcomes = {sequence_events().outcome for _ in range(10)}
    assert outcomes == {PassOutcome.NOTHING_NEW}
    assert Tick.objects.count() == ticks
    status = get_consumer_status(noted.name)
    assert (status.waiting, status.staleness.total_seconds()) == (0, 0)

    append_things(1, first=2)
    assert deliver(noted) == [("thing:1", 1), ("thing:1", 2)]
    assert EventPosition.objects.order_by("-pos").values_list("pos", "seq")[0][0] == 2
    assert Event.objects.order_by("-seq").values_list("seq", flat=True)[0] > 5000


def test_event_is_refused_a_second_time_for_one_version_of_its_subject() -> None:
    append([new_event("thing:1", 1)])

    with pytest.raises(IntegrityError, match="one_event_per_subject_version"):
        append([new_event("thing:1", 1)])
