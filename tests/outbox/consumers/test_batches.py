"""A consumer's batch: effects and cursor in one commit, in order, once; and when it does not run at all."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from outbox.consumers.batches import BatchOutcome, Progress, run_batch
from outbox.consumers.cursors import adopt_epoch, pause_consumer, register_consumer, resume_consumer
from outbox.errors import CursorAheadOfLog, CursorOfAnotherEpoch
from outbox.log.reading import Position
from outbox.log.sequencer import sequence_events, start_epoch
from outbox.models import Consumer
from tests.outbox.consumers.noted import ThingsNoted, deliver, noted
from tests.outbox.things import append, append_things, new_event
from tests.sessions import Background, Sessions, sessions
from tests.waiting import wait_until

__all__ = ["noted", "sessions"]
pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def get_cursor(handler: ThingsNoted) -> int:
    return Consumer.objects.get(name=handler.name).position


def test_consumer_reads_the_whole_log_from_its_first_run_on(noted: ThingsNoted) -> None:
    append_things(3)
    append([new_event("thing:2")])

    assert deliver(noted) == [("thing:1", 1), ("thing:1", 2), ("thing:1", 3), ("thing:2", 1)]
    assert get_cursor(noted) == 4


def test_consumer_passes_over_events_of_other_kinds(noted: ThingsNoted) -> None:
    append([new_event(version=1), new_event(version=2, kind="ThingLost"), new_event(version=3)])
    sequence_events()

    assert run_batch(noted) == Progress(BatchOutcome.ADVANCED, applied=2, position=3, head=3)
    assert noted.list_noted() == [("thing:1", 1), ("thing:1", 3)]


def test_consumer_does_not_call_its_handler_when_no_event_of_its_kinds_is_in_the_batch(
    noted: ThingsNoted,
) -> None:
    append([new_event(kind="ThingLost")])
    sequence_events()
    calls: list[int] = []
    noted.interrupt = lambda batch: calls.extend(batch.positions)

    assert run_batch(noted) == Progress(BatchOutcome.ADVANCED, applied=0, position=1, head=1)
    assert calls == []


def test_batch_takes_no_more_positions_than_its_limit(noted: ThingsNoted) -> None:
    append_things(5)
    sequence_events()

    positions = [run_batch(noted, limit=2).position for _ in range(3)]

    assert positions == [2, 4, 5]
    assert len(noted.list_noted()) == 5


def test_batch_on_an_empty_log_finds_nothing_and_leaves_the_cursor_at_zero(noted: ThingsNoted) -> None:
    assert run_batch(noted) == Progress(BatchOutcome.NOTHING_NEW)
    assert get_cursor(noted) == 0


def test_quiet_consumer_neither_writes_nor_locks_its_row_between_two_heartbeats(
    noted: ThingsNoted, sessions: Sessions
) -> None:
    append_things(1)
    deliver(noted)
    session = sessions.open()
    trace = "SELECT (ctid, xmin, xmax)::text FROM outbox_consumer"
    Consumer.objects.update(heartbeat_at=datetime.now(UTC) + timedelta(hours=1))
    before = session.run(trace)
    session.commit()

    assert run_batch(noted).outcome is BatchOutcome.NOTHING_NEW
    assert session.run(trace) == before


def test_quiet_consumer_beats_when_its_heartbeat_is_a_second_old(noted: ThingsNoted) -> None:
    register_consumer(noted)
    assert Consumer.objects.get().heartbeat_at is None

    run_batch(noted)
    first = Consumer.objects.get().heartbeat_at
    assert first is not None

    wait_until(lambda: run_batch(noted).position == 0 and Consumer.objects.get().heartbeat_at != first)


def test_effect_and_cursor_roll_back_together_when_the_batch_breaks(
    noted: ThingsNoted, sessions: Sessions
) -> None:
    append_things(2)
    sequence_events()
    session = sessions.open()

    def cut(_batch: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            session.run("SELECT pg_terminate_backend(%s)", cursor.fetchone()[0])
            cursor.execute("SELECT 1")

    noted.interrupt = cut
    with pytest.raises(Exception, match=r"terminating connection|connection is lost|closed"):
        run_batch(noted)
    connection.close()

    assert (noted.list_noted(), get_cursor(noted)) == ([], 0)
    noted.interrupt = None
    assert deliver(noted) == [("thing:1", 1), ("thing:1", 2)]


def test_second_instance_finds_the_consumer_busy_and_does_not_wait(
    noted: ThingsNoted, sessions: Sessions
) -> None:
    append_things(1)
    sequence_events()
    register_consumer(noted)
    other = sessions.open()
    other.run("SELECT name FROM outbox_consumer FOR UPDATE")

    assert run_batch(noted).outcome is BatchOutcome.BUSY
    assert noted.list_noted() == []

    other.rollback()
    assert run_batch(noted).outcome is BatchOutcome.ADVANCED


def test_paused_consumer_stays_where_it_is_until_resumed(noted: ThingsNoted) -> None:
    append_things(1)
    deliver(noted)
    pause_consumer(noted.name)
    append_things(1, first=2)
    sequence_events()

    assert run_batch(noted) == Progress(BatchOutcome.PAUSED, position=1, head=2)

    resume_consumer(noted.name)
    assert deliver(noted) == [("thing:1", 1), ("thing:1", 2)]


def test_consumer_refuses_to_run_when_its_cursor_is_of_another_epoch(noted: ThingsNoted) -> None:
    append_things(1)
    deliver(noted)
    append_things(1, first=2)
    start_epoch()

    with pytest.raises(
        CursorOfAnotherEpoch,
        match=r"The cursor is 0\.0\.1, but the log is in epoch 1 \(its head is 1\.0\.2\)",
    ):
        run_batch(noted)
    assert (noted.list_noted(), get_cursor(noted)) == ([("thing:1", 1)], 1)


def test_consumer_goes_on_at_its_position_when_a_person_adopted_the_new_epoch(noted: ThingsNoted) -> None:
    append_things(1)
    deliver(noted)
    append_things(1, first=2)
    start_epoch()

    assert adopt_epoch(noted.name) == Position(epoch=1, pos=1)

    assert deliver(noted) == [("thing:1", 1), ("thing:1", 2)]


def test_consumer_refuses_to_run_when_its_cursor_is_past_the_end_of_the_log(noted: ThingsNoted) -> None:
    append_things(1)
    sequence_events()
    register_consumer(noted)
    Consumer.objects.update(position=7)

    with pytest.raises(CursorAheadOfLog, match=r"The cursor is 0\.0\.7, but the log ends at 0\.0\.1"):
        run_batch(noted)


def test_two_instances_take_turns_until_everything_is_applied_once(noted: ThingsNoted) -> None:
    append_things(40)
    sequence_events()

    def catch_up() -> int:
        applied = 0
        while (progress := run_batch(noted, limit=1)).outcome is not BatchOutcome.NOTHING_NEW:
            applied += progress.applied
        return applied

    both = [Background(catch_up) for _ in range(2)]

    assert sum(each.result() for each in both) == 40
    assert noted.list_noted() == [("thing:1", version) for version in range(1, 41)]


def test_batch_leaves_no_trace_when_the_callers_transaction_is_rolled_back(
    noted: ThingsNoted,
) -> None:
    append_things(1)
    sequence_events()

    with transaction.atomic():
        run_batch(noted)
        transaction.set_rollback(True)

    assert noted.list_noted() == []
    assert deliver(noted) == [("thing:1", 1)]
