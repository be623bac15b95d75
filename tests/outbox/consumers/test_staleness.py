"""How far behind a consumer says it is: the age of the oldest event it has not applied, from when it could be read."""

from datetime import timedelta

import pytest
from django.db import connection

from outbox.consumers.batches import run_batch
from outbox.consumers.cursors import register_consumer
from outbox.consumers.staleness import get_consumer_status, list_consumer_statuses
from outbox.errors import UnknownConsumer
from outbox.log.reading import Position
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer
from tests.outbox.consumers.noted import ThingsNoted, deliver, noted, noted_again
from tests.outbox.things import append_things
from tests.sessions import Sessions, sessions

__all__ = ["noted", "noted_again", "sessions"]
pytestmark = pytest.mark.django_db(transaction=True)
A_SHORT_WHILE = timedelta(seconds=20)  # how long a test's own steps may take at the very most
LONG_AGO = timedelta(minutes=10)


def make_older(table: str, column: str, by: timedelta = LONG_AGO) -> None:
    """Let what is in a log table be older, as if nobody had looked for a while."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(f"UPDATE {table} SET {column} = {column} - %s::interval", [str(by)])
        cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def test_consumer_at_the_head_is_not_stale_however_old_the_last_event(noted: ThingsNoted) -> None:
    append_things(1)
    deliver(noted)
    make_older("outbox_event", "occurred_at")
    make_older("outbox_tick", "at")

    status = get_consumer_status(noted.name)

    assert (status.staleness, status.is_stale, status.waiting) == (timedelta(0), False, 0)
    assert (status.position, status.head, status.state) == (Position(0, 0, 1), Position(0, 0, 1), "running")


def test_consumer_on_an_empty_log_is_not_stale(noted: ThingsNoted) -> None:
    status = get_consumer_status(noted.name)

    assert (status.staleness, status.heartbeat_at, status.position) == (timedelta(0), None, Position())


def test_consumer_is_as_stale_as_the_oldest_event_it_has_not_applied(noted: ThingsNoted) -> None:
    append_things(1)
    make_older("outbox_event", "occurred_at")
    sequence_events()
    append_things(1, first=2)
    sequence_events()

    status = get_consumer_status(noted.name)

    assert LONG_AGO <= status.staleness <= LONG_AGO + A_SHORT_WHILE
    assert (status.is_stale, status.waiting) == (True, 2)


def test_consumer_is_stale_when_the_sequencer_is_dead(noted: ThingsNoted) -> None:
    append_things(1)
    deliver(noted)
    make_older("outbox_tick", "at", 2 * LONG_AGO)
    append_things(1, first=2)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE outbox_event DISABLE TRIGGER USER")
        cursor.execute(
            "UPDATE outbox_event SET occurred_at = occurred_at - interval '10 minutes' WHERE subject_version = 2"
        )
        cursor.execute("ALTER TABLE outbox_event ENABLE TRIGGER USER")

    status = get_consumer_status(noted.name)

    assert LONG_AGO <= status.staleness <= LONG_AGO + A_SHORT_WHILE
    assert status.waiting == 0


def test_event_of_a_long_transaction_counts_from_when_it_could_be_read(
    noted: ThingsNoted, sessions: Sessions
) -> None:
    slow = sessions.open()
    slow.append("thing:slow")
    append_things(1)
    deliver(noted)
    slow.commit()
    make_older("outbox_event", "occurred_at")

    unnumbered = get_consumer_status(noted.name).staleness
    sequence_events()
    numbered = get_consumer_status(noted.name).staleness

    assert timedelta(0) < unnumbered <= numbered <= A_SHORT_WHILE


def test_consumer_that_never_ran_is_as_stale_as_the_log_is_old(noted: ThingsNoted) -> None:
    append_things(1)
    make_older("outbox_event", "occurred_at")
    sequence_events()

    status = get_consumer_status(noted.name)

    assert not Consumer.objects.exists()
    assert status.staleness >= LONG_AGO
    assert (status.budget, status.heartbeat_at, status.state) == (timedelta(seconds=2), None, "running")


def test_budget_in_the_code_reaches_the_consumers_row(noted: ThingsNoted) -> None:
    append_things(1)
    deliver(noted)
    noted.staleness_budget = timedelta(seconds=9)
    register_consumer(noted)

    assert Consumer.objects.get().staleness_budget == timedelta(seconds=9)
    assert get_consumer_status(noted.name).budget == timedelta(seconds=9)


def test_all_statuses_come_in_one_query_and_in_order_of_name(
    noted: ThingsNoted, noted_again: ThingsNoted, django_assert_num_queries: object
) -> None:
    append_things(1)
    sequence_events()
    run_batch(noted)

    with django_assert_num_queries(1):  # type: ignore[operator]
        statuses = list_consumer_statuses([noted.name, noted_again.name])

    assert [(status.name, status.position.pos) for status in statuses] == [
        ("things_noted", 1),
        ("things_noted_again", 0),
    ]


def test_status_of_an_unknown_consumer_is_refused_with_the_names_there_are(noted: ThingsNoted) -> None:
    with pytest.raises(UnknownConsumer, match=r"There is no consumer nobody\. Known: .*things_noted"):
        get_consumer_status("nobody")
