"""The interleavings I15 to I19: consumers that crash, freeze, meet a rebuild, meet poison. Every effect happens once."""

import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection

from outbox.consumers.batches import BatchOutcome, run_batch
from outbox.consumers.consumer import Batch
from outbox.consumers.cursors import advance_cursor, register_consumer
from outbox.consumers.following import follow, follow_all
from outbox.consumers.rebuild import begin_rebuild, rebuild
from outbox.db import is_transient
from outbox.errors import CursorMoved
from outbox.log.reading import Position, get_head
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer, Heartbeat, ParkedSubject
from outbox.stopping import Stop
from tests.outbox.consumers.noted import ThingsNoted, deliver, noted, noted_again
from tests.outbox.things import append, append_things, new_event
from tests.sessions import Background, Sessions, count_lock_waiters, sessions
from tests.waiting import wait_until

__all__ = ["noted", "noted_again", "sessions"]
pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


class Barrier:
    """Stops a batch in the middle of its transaction, until the test lets it go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def __call__(self, _batch: Batch) -> None:
        self.reached.set()
        assert self.open.wait(30), "nobody opened the barrier"


@pytest.fixture
def barrier() -> Iterator[Barrier]:
    each = Barrier()
    yield each
    each.open.set()


def test_i15_crash_before_the_commit_repeats_the_batch_and_crash_after_it_does_not(
    noted: ThingsNoted, sessions: Sessions
) -> None:
    append_things(3)
    sequence_events()
    killer = sessions.open()

    def crash(_batch: Batch) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            killer.run("SELECT pg_terminate_backend(%s)", cursor.fetchone()[0])
            cursor.execute("SELECT 1")

    noted.interrupt = crash
    with pytest.raises(DatabaseError) as before:
        run_batch(noted)
    assert is_transient(before.value)
    connection.close()
    assert noted.list_noted() == []

    noted.interrupt = None
    assert run_batch(noted).applied == 3
    connection.close()  # crash after the commit: the next incarnation begins here

    assert run_batch(noted).outcome is BatchOutcome.NOTHING_NEW
    assert noted.list_noted() == [("thing:1", version) for version in (1, 2, 3)]


def test_i16_instance_that_freezes_in_its_batch_loses_the_row_and_cannot_finish(
    noted: ThingsNoted, barrier: Barrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outbox.consumers.cursors.FROZEN_BATCH_ENDS_AFTER", timedelta(milliseconds=300))
    append_things(3)
    sequence_events()
    register_consumer(noted)
    noted.interrupt = barrier
    frozen = Background(lambda: run_batch(noted))
    assert barrier.reached.wait(30)
    noted.interrupt = None

    assert run_batch(noted).outcome is BatchOutcome.BUSY
    wait_until(lambda: run_batch(noted).applied == 3)
    barrier.open.set()

    with pytest.raises(DatabaseError) as thawed:
        frozen.result()
    assert is_transient(thawed.value)
    assert noted.list_noted() == [("thing:1", version) for version in (1, 2, 3)]
    assert Consumer.objects.get().position == 3


def test_i17_rebuild_waits_for_the_running_batch_and_then_replays_its_events_once(
    noted: ThingsNoted, barrier: Barrier, sessions: Sessions
) -> None:
    append_things(3)
    deliver(noted)
    append_things(2, first=4)
    sequence_events()
    noted.interrupt = barrier
    batch = Background(lambda: run_batch(noted))
    assert barrier.reached.wait(30)
    noted.interrupt = None
    with Stop() as stop:
        rebuilding = Background(lambda: rebuild(noted, stop, report=lambda *_: None))
        watcher = sessions.open()
        wait_until(lambda: count_lock_waiters(watcher) == 1)
        barrier.open.set()

        assert batch.result().outcome is BatchOutcome.ADVANCED
        assert rebuilding.result() is True
    assert noted.list_noted() == [("thing:1", version) for version in range(1, 6)]
    assert (Consumer.objects.get().generation, Consumer.objects.get().position) == (2, 5)


def test_i17_frozen_batch_of_the_old_generation_keeps_nothing_after_a_rebuild(
    noted: ThingsNoted, barrier: Barrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outbox.consumers.cursors.FROZEN_BATCH_ENDS_AFTER", timedelta(milliseconds=300))
    append_things(3)
    sequence_events()
    register_consumer(noted)
    noted.interrupt = barrier
    frozen = Background(lambda: run_batch(noted))
    assert barrier.reached.wait(30)
    noted.interrupt = None
    with Stop() as stop:
        assert rebuild(noted, stop, report=lambda *_: None)
    barrier.open.set()

    with pytest.raises(DatabaseError):
        frozen.result()
    assert noted.list_noted() == [("thing:1", version) for version in (1, 2, 3)]


def test_i17_cursor_of_the_old_generation_fails_its_guard(noted: ThingsNoted) -> None:
    append_things(3)
    sequence_events()
    register_consumer(noted)
    old = Consumer.objects.get()
    begin_rebuild(noted)

    with pytest.raises(CursorMoved, match="no longer at 0"):
        advance_cursor(old, upto=3, head=get_head())

    assert (Consumer.objects.get().position, Consumer.objects.get().generation) == (0, 2)


def test_i17_batch_whose_cursor_moved_under_it_is_rolled_back_as_an_outcome(
    noted: ThingsNoted, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_things(3)
    sequence_events()

    def find_of_old_generation(name: str) -> Consumer:
        consumer = Consumer.objects.select_for_update().get(name=name)
        consumer.generation -= 1
        return consumer

    monkeypatch.setattr("outbox.consumers.batches.find_unlocked_consumer", find_of_old_generation)

    assert run_batch(noted).outcome is BatchOutcome.MOVED
    assert noted.list_noted() == []


def test_i18_rebuild_during_live_load_ends_equal_to_an_untouched_twin(
    noted: ThingsNoted, noted_again: ThingsNoted
) -> None:
    append_things(200, subject="thing:0")
    deliver(noted)
    with Stop() as writing, Stop() as following, Stop() as rebuilding:
        reached = threading.Event()

        def write() -> int:
            version = 0
            while not writing.is_set:
                version += 1
                append(new_event(f"thing:{number}", version) for number in (1, 2, 3))
                sequence_events()
                if version == 20:
                    reached.set()
            return version

        writer = Background(write)
        followers = [Background(lambda each=each: follow(each, following)) for each in (noted, noted_again)]  # type: ignore[misc]
        assert reached.wait(60)
        assert rebuild(noted, rebuilding, report=lambda *_: None)
        writing.set()
        versions = writer.result()
        sequence_events()
        end = 200 + 3 * versions
        wait_until(lambda: set(Consumer.objects.values_list("position", flat=True)) == {end})
        following.set()
        for follower in followers:
            follower.result()

    assert noted.list_rows() == noted_again.list_rows()
    assert len(noted.list_rows()) == end
    assert Consumer.objects.get(name=noted.name).generation == 2
    assert Consumer.objects.get(name=noted_again.name).generation == 1


def test_i19_poison_event_parks_its_own_subject_while_two_hundred_others_flow(noted: ThingsNoted) -> None:
    append(
        new_event(f"thing:{number}", 1, note="poison" if number == 77 else "fine") for number in range(1, 201)
    )
    append(new_event(f"thing:{number}", 2) for number in range(1, 201))
    sequence_events()
    with Stop() as stop:
        follower = Background(lambda: follow(noted, stop))
        wait_until(lambda: Consumer.objects.filter(position=400).exists())
        stop.set()
        follower.result()

    expected = [
        (f"thing:{number}", version) for version in (1, 2) for number in range(1, 201) if number != 77
    ]
    assert noted.list_noted() == expected
    parked = ParkedSubject.objects.get()
    assert (parked.subject, list(parked.events.order_by("pos").values_list("pos", flat=True))) == (
        "thing:77",
        [77, 277],
    )


def test_consumer_that_refuses_to_run_holds_up_none_of_those_beside_it(
    noted: ThingsNoted, noted_again: ThingsNoted
) -> None:
    append_things(2)
    sequence_events()
    register_consumer(noted)
    register_consumer(noted_again)
    Consumer.objects.filter(name=noted.name).update(epoch=7)
    with Stop() as stop:
        both = Background(lambda: follow_all([noted, noted_again], stop))
        wait_until(lambda: len(noted_again.list_noted()) == 2)
        wait_until(
            lambda: list(Heartbeat.objects.values_list("role", flat=True)) == [f"consumer:{noted_again.name}"]
        )
        stop.set()
        both.result()

    assert noted.list_noted() == []
    assert get_head() == Position(0, 0, 2)


def test_consumer_that_fails_for_good_ends_those_beside_it_so_that_a_supervisor_notices(
    noted: ThingsNoted, noted_again: ThingsNoted, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Defect(Exception):
        pass

    def fail(_handler: object, **_: object) -> None:
        raise Defect

    append_things(1)
    sequence_events()
    monkeypatch.setattr("outbox.consumers.careful.run_batch", fail)

    with Stop() as stop, pytest.raises(Defect):
        follow_all([noted, noted_again], stop)
