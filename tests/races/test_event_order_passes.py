"""The interleavings I8 to I13 (docs/adr/0001-event-order.md): two passes of the sequencer, one killed or frozen, and writers around its snapshot."""

from datetime import timedelta

import psycopg
import pytest

from outbox.log.sequencer import PassOutcome, begin_pass, get_last_tick, number_events, sequence_events
from outbox.models import Tick
from tests.outbox.consumers.noted import ThingsNoted, deliver, noted
from tests.outbox.things import append_things
from tests.races.dense import assert_positions_are_dense
from tests.sessions import Background, Session, Sessions, count_lock_waiters, sessions
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
__all__ = ["noted", "sessions"]


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
