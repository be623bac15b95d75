"""Rebuilding in place: interrupted, while the consumer runs, and next to others that it must not touch."""

import pytest

from outbox.consumers.batches import BatchOutcome, run_batch
from outbox.consumers.cursors import pause_consumer, resume_consumer
from outbox.consumers.rebuild import begin_rebuild, rebuild
from outbox.consumers.staleness import get_consumer_status
from outbox.errors import NotRebuildable, RebuildFailed
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer, ParkedSubject
from outbox.stopping import Stop
from tests.outbox.consumers.noted import TABLE, ThingsNoted, deliver, ignore, noted, noted_again, stop, tamper
from tests.outbox.things import append, append_things, new_event
from tests.sessions import Background, Sessions, count_lock_waiters, sessions
from tests.waiting import wait_until

__all__ = ["noted", "noted_again", "sessions", "stop"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_rebuild_empties_the_tables_and_fills_them_from_the_log(noted: ThingsNoted, stop: Stop) -> None:
    append_things(5)
    deliver(noted)
    before = noted.list_rows()
    tamper(f"UPDATE {TABLE} SET note = 'false' WHERE pos = 2")
    tamper(f"INSERT INTO {TABLE} VALUES (99, 'thing:9', 9, NULL)")
    reports: list[tuple[int, int]] = []

    assert rebuild(noted, stop, report=lambda done, total: reports.append((done, total)))

    assert noted.list_rows() == before
    assert reports[-1] == (5, 5)
    consumer = Consumer.objects.get()
    assert (consumer.position, consumer.generation, consumer.state) == (5, 2, "running")


def test_rebuild_of_an_empty_log_finishes(noted: ThingsNoted, stop: Stop) -> None:
    assert rebuild(noted, stop, report=ignore)
    assert Consumer.objects.get().state == "running"


def test_rebuild_is_marked_as_such_until_the_head_is_reached(noted: ThingsNoted, stop: Stop) -> None:
    append_things(3)
    deliver(noted)
    states: list[str] = []
    noted.interrupt = lambda _batch: states.append(Consumer.objects.get().state)

    rebuild(noted, stop, report=ignore)

    assert states == ["rebuilding"]
    assert Consumer.objects.get().state == "running"


def test_interrupted_rebuild_is_finished_by_the_running_consumer(noted: ThingsNoted, stop: Stop) -> None:
    append_things(3)
    before = deliver(noted)
    stop.set()

    assert not rebuild(noted, stop, report=ignore)

    assert (noted.list_noted(), Consumer.objects.get().state) == ([], "rebuilding")
    assert run_batch(noted, limit=2).position == 2
    assert Consumer.objects.get().state == "rebuilding"
    assert deliver(noted) == before
    assert Consumer.objects.get().state == "running"


def test_interrupted_rebuild_may_simply_be_run_again(noted: ThingsNoted, stop: Stop) -> None:
    append_things(3)
    before = deliver(noted)
    with Stop() as at_once:
        at_once.set()
        rebuild(noted, at_once, report=ignore)
    run_batch(noted, limit=2)

    assert rebuild(noted, stop, report=ignore)

    assert noted.list_noted() == before
    assert Consumer.objects.get().generation == 3


def test_rebuild_frees_what_was_parked_and_meets_it_again(noted: ThingsNoted, stop: Stop) -> None:
    append([new_event("thing:1", note="poison"), new_event("thing:2")])
    sequence_events()
    while run_batch(noted).outcome is not BatchOutcome.NOTHING_NEW:
        pass
    assert ParkedSubject.objects.get().subject == "thing:1"
    parked_before = ParkedSubject.objects.get().id

    assert rebuild(noted, stop, report=ignore)

    assert noted.list_noted() == [("thing:2", 1)]
    assert ParkedSubject.objects.get().id > parked_before


def test_rebuild_does_not_touch_another_consumer(
    noted: ThingsNoted, noted_again: ThingsNoted, stop: Stop
) -> None:
    append_things(3)
    deliver(noted)
    deliver(noted_again)
    before = Consumer.objects.filter(name=noted_again.name).values().get()

    rebuild(noted, stop, report=ignore)

    assert Consumer.objects.filter(name=noted_again.name).values().get() == before
    assert noted_again.list_rows() == noted.list_rows()


def test_rebuild_says_so_when_the_consumer_is_paused_in_the_middle(
    noted: ThingsNoted, stop: Stop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outbox.consumers.rebuild.REPLAYED_AT_ONCE", 1)
    append_things(2)
    deliver(noted)

    with pytest.raises(RebuildFailed, match=r"paused at position 1\. Resume it"):
        rebuild(noted, stop, report=lambda *_: pause_consumer(noted.name))


def test_rebuild_that_was_paused_and_resumed_is_marked_as_such_until_the_head_is_reached(
    noted: ThingsNoted,
) -> None:
    append_things(3)
    deliver(noted)
    begin_rebuild(noted)
    run_batch(noted, limit=1)
    marks = []
    for act in (pause_consumer, resume_consumer):
        act(noted.name)
        status = get_consumer_status(noted.name)
        marks.append((status.state, status.is_rebuilding))

    assert marks == [("paused", True), ("rebuilding", True)]
    deliver(noted)
    status = get_consumer_status(noted.name)
    assert (status.state, status.is_rebuilding) == ("running", False)


def test_rebuild_is_refused_for_a_consumer_without_tables(noted: ThingsNoted, stop: Stop) -> None:
    noted.tables = ()  # type: ignore[assignment]

    with pytest.raises(NotRebuildable, match="keeps no tables of its own"):
        rebuild(noted, stop, report=ignore)


def test_rebuild_gives_up_and_changes_nothing_when_a_reader_holds_the_table_too_long(
    noted: ThingsNoted, sessions: Sessions, stop: Stop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outbox.consumers.rebuild.PATIENCE_WITH_READERS", "100ms")
    append_things(1)
    before = deliver(noted)
    sessions.open().run(f"SELECT count(*) FROM {TABLE}")

    with pytest.raises(RebuildFailed, match="nothing was changed"):
        rebuild(noted, stop, report=ignore)

    assert noted.list_noted() == before
    assert (Consumer.objects.get().generation, Consumer.objects.get().state) == (1, "running")


def test_rebuild_waits_for_a_running_batch(noted: ThingsNoted, sessions: Sessions, stop: Stop) -> None:
    append_things(2)
    deliver(noted)
    session = sessions.open()
    session.run("SELECT name FROM outbox_consumer FOR UPDATE")

    rebuilding = Background(lambda: rebuild(noted, stop, report=ignore))
    watcher = sessions.open()
    wait_until(lambda: count_lock_waiters(watcher) == 1)
    assert noted.list_noted() == [("thing:1", 1), ("thing:1", 2)]
    session.rollback()

    assert rebuilding.result()
    assert noted.list_noted() == [("thing:1", 1), ("thing:1", 2)]


def test_consumer_that_never_ran_cannot_be_paused() -> None:
    with pytest.raises(Consumer.DoesNotExist):
        pause_consumer("nobody")
