"""The interleavings I1 to I14 and I25 (docs/adr/0001-event-order.md) and cases O14, O15: no event is lost, doubled or reordered.

Every step stands where the test puts it, on connections of its own; nothing sleeps.
"""

from contextlib import suppress
from datetime import timedelta

import psycopg
import pytest
from django.db import IntegrityError, connection
from psycopg import sql
from psycopg.errors import DuplicateDatabase

from config.postgres import Cluster
from config.postgres.place import SUPERUSER
from outbox.consumers.batches import run_batch
from outbox.consumers.staleness import get_consumer_status
from outbox.log.sequencer import PassOutcome, begin_pass, get_last_tick, number_events, sequence_events
from outbox.models import Event, EventPosition, Tick
from tests.outbox.consumers.noted import ThingsNoted, deliver, noted
from tests.outbox.things import append, append_things, new_event
from tests.sessions import Background, Session, Sessions, count_lock_waiters, sessions
from tests.waiting import wait_until

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


def assert_positions_are_dense() -> None:
    positions = list(EventPosition.objects.order_by("pos").values_list("pos", flat=True))
    assert positions == list(range(1, len(positions) + 1))
    assert len(positions) == Event.objects.count()


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


def start_pass(session: Session) -> None:
    """Begin a pass as another sequencer process would, snapshot taken, whether or not another one is at work."""
    begin_pass(session.cursor)


def finish_pass(session: Session) -> int:
    """Number and commit; return how many."""
    cursor = session.cursor
    done = number_events(cursor, get_last_tick(cursor))
    session.commit()
    return done.count


def test_i8_second_of_two_passes_from_the_same_tick_fails_on_the_key_and_changes_nothing(
    sessions: Sessions,
) -> None:
    append_things(3)
    one, two = sessions.open(), sessions.open()
    start_pass(one)
    start_pass(two)
    last = get_last_tick(two.cursor)
    assert finish_pass(one) == 3

    with pytest.raises(psycopg.errors.UniqueViolation, match="outbox_eventposition_pkey"):
        number_events(two.cursor, last)
    two.rollback()

    assert Tick.objects.count() == 1
    assert_positions_are_dense()


def test_i8_second_pass_waits_for_the_first_and_takes_over_when_that_one_rolls_back(
    sessions: Sessions,
) -> None:
    append_things(3)
    one, two, watcher = sessions.open(), sessions.open(), sessions.open()
    start_pass(one)
    start_pass(two)
    number_events(one.cursor, get_last_tick(one.cursor))
    second = Background(lambda: finish_pass(two))
    wait_until(lambda: count_lock_waiters(watcher) == 1)
    one.rollback()

    assert second.result() == 3
    assert Tick.objects.count() == 1
    assert_positions_are_dense()


def test_i8_losing_the_race_is_an_outcome_and_not_an_error(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_things(3)
    one = sessions.open()

    def be_overtaken(cursor: object) -> object:
        last = get_last_tick(cursor)  # type: ignore[arg-type]
        one.run("SELECT pg_advisory_unlock_all()")
        assert finish_pass(one) == 3
        return last

    monkeypatch.setattr("outbox.log.sequencer.get_last_tick", be_overtaken)

    assert sequence_events().outcome is PassOutcome.FENCED
    assert Tick.objects.count() == 1
    assert_positions_are_dense()


def test_i9_pass_frozen_after_its_inserts_is_ended_by_the_server_and_cannot_resume(
    sessions: Sessions,
) -> None:
    append_things(3)
    frozen = sessions.open()
    begin_pass(frozen.cursor, frozen_after=timedelta(milliseconds=200))
    number_events(frozen.cursor, get_last_tick(frozen.cursor))
    outcomes: list[PassOutcome] = []

    def another_pass_gets_through() -> bool:
        outcomes.append(sequence_events().outcome)
        return outcomes[-1] is PassOutcome.NUMBERED

    wait_until(another_pass_gets_through)

    assert set(outcomes[:-1]) <= {PassOutcome.BUSY}
    with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
        frozen.commit()
    assert Tick.objects.count() == 1
    assert_positions_are_dense()


def test_i10_pass_killed_after_its_commit_was_sent_has_happened_once(sessions: Sessions) -> None:
    append_things(3)
    doomed = sessions.open()
    start_pass(doomed)
    number_events(doomed.cursor, get_last_tick(doomed.cursor))
    doomed.connection.pgconn.send_query(b"COMMIT")
    while doomed.connection.pgconn.flush():
        pass
    doomed.connection.pgconn.finish()  # gone before the answer
    wait_until(Tick.objects.exists)
    append_things(1, first=4)

    assert sequence_events().count == 1
    assert Tick.objects.count() == 2
    assert_positions_are_dense()


def test_i11_writer_with_an_old_snapshot_is_delivered_when_it_writes_and_commits(
    noted: ThingsNoted, sessions: Sessions
) -> None:
    late = sessions.open()
    late.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    late.run("SELECT count(*) FROM outbox_event")
    for version in range(1, 4):
        append_things(1, first=version)
        deliver(noted)
    late.append("thing:late")
    deliver(noted)
    late.commit()

    assert deliver(noted)[-1] == ("thing:late", 1)
    assert len(deliver(noted)) == 4
    assert_positions_are_dense()


@pytest.mark.parametrize("began_before", [True, False])
def test_i12_event_that_commits_between_a_passs_snapshot_and_its_commit_is_in_the_next_pass(
    began_before: bool, sessions: Sessions
) -> None:
    append_things(1)
    writer, slow_pass = sessions.open(), sessions.open()
    if began_before:
        writer.append("thing:between")
    start_pass(slow_pass)
    if not began_before:
        writer.append("thing:between")
    writer.commit()

    assert finish_pass(slow_pass) == 1
    assert sequence_events().count == 1
    assert sequence_events().outcome is PassOutcome.NOTHING_NEW
    assert_positions_are_dense()


@pytest.mark.parametrize("ending", ["commit", "rollback"])
def test_i13_transaction_running_at_one_tick_that_ends_during_the_next_is_numbered_once_or_never(
    ending: str, sessions: Sessions
) -> None:
    writer, slow_pass = sessions.open(), sessions.open()
    xid = writer.take_xid()
    writer.append("thing:running")
    append_things(1)
    assert sequence_events().count == 1
    assert xid in Tick.objects.get().snapshot_xip
    append_things(1, first=2)
    start_pass(slow_pass)
    getattr(writer, ending)()

    assert finish_pass(slow_pass) == 1
    assert sequence_events().count == (1 if ending == "commit" else 0)
    assert sequence_events().outcome is PassOutcome.NOTHING_NEW
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
