"""An event that kills the consumer's process, not only its batch: found, parked after three deaths, and nobody else waits (P9; O09)."""

import signal
from collections.abc import Iterator, Sequence
from functools import partial

import pytest
from django.db import connection

from outbox.log.sequencer import sequence_events
from outbox.models import Consumer, Heartbeat, ParkedEvent, ParkedSubject
from tests.outbox.things import append, append_things, new_event
from tests.processes.running import Running
from tests.processes.workers import Start, start
from tests.waiting import wait_until

__all__ = ["start"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process, pytest.mark.timeout(300)]
BATCHES = ("--limit", "100")  # so that a batch has much company for the killer, and the test is short
SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.processes.logplace.settings"}


@pytest.fixture
def tally(transactional_db: None) -> Iterator[None]:
    """The table both consumers write to."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS random_run_tally")
        cursor.execute("CREATE TABLE random_run_tally (pos bigint, subject text, version integer)")
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE random_run_tally")


def list_positions() -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pos FROM random_run_tally ORDER BY pos")
        return [pos for (pos,) in cursor.fetchall()]


def append_with_a_killer() -> int:
    """Append more events than two batches; the 60th kills, and the one after it is of the same subject. Return the head."""
    append_things(59)
    append([new_event("thing:deadly", deadly=True), new_event("thing:deadly", version=2)])
    append_things(159, first=60)
    sequence_events()
    return 220


def is_at(name: str, position: int) -> bool:
    return Consumer.objects.filter(name=name, position=position).exists()


def is_over(process: Running, names: Sequence[str], head: int) -> bool:
    return process.has_ended or all(is_at(name, head) for name in names)


def run_until_it_lives(start: Start, head: int, *names: str) -> int:
    """Start the consumers again and again, as the supervisor does, until all are at the head; return how often they died."""
    for deaths in range(10):
        with start("run_consumer", *names, *BATCHES, **SETTINGS) as process:
            wait_until(partial(is_over, process, names, head), seconds=60)
            if not process.has_ended:
                process.send(signal.SIGTERM)
                assert process.wait() == 0
                return deaths
            assert process.wait() == -signal.SIGKILL
    raise AssertionError("It dies for ever.")


def test_an_event_that_kills_its_process_is_parked_after_three_deaths_and_all_others_flow(
    start: Start, tally: None
) -> None:
    """Parked for the consumer it kills alone: the one that shares the process is not blamed."""
    head = append_with_a_killer()
    assert run_until_it_lives(start, head, "fragile", "tally") == 3
    parked = ParkedSubject.objects.get()
    assert (parked.consumer_id, parked.subject, parked.tries) == ("fragile", "thing:deadly", 3)
    assert parked.error.startswith("ProcessLost: Three processes ended")
    assert list(ParkedEvent.objects.order_by("pos").values_list("pos", flat=True)) == [60, 61]
    everything = range(1, head + 1)
    assert list_positions() == sorted([*everything, *(pos for pos in everything if pos not in {60, 61})])


def test_a_consumer_killed_from_outside_parks_nothing(start: Start, tally: None) -> None:
    """Three kills, two of them over the same event, but none its fault: the third process gets past it."""
    append_things(60)
    sequence_events()
    for point in ("in_batch", "after_announcement", "after_batch"):
        with start(
            "run_consumer", "tally", "--limit", "20", HANDOVER_FAULT_POINT=f"{point}:kill", **SETTINGS
        ) as one:
            assert one.wait() == -signal.SIGKILL
    assert Heartbeat.objects.filter(role="consumer:tally").count() == 3
    assert run_until_it_lives(start, 60, "tally") == 0
    assert not ParkedSubject.objects.exists()
    assert list_positions() == list(range(1, 61))
