"""What meters and alarms are told about the queue: counted from the rows, and added up from what workers counted."""

import dataclasses
import datetime as dt
import uuid

import psycopg
import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from outbox.models import Job, Lane
from outbox.models.jobs import QueueTally
from outbox.processes import Heart
from outbox.queue.keeper import Keeper
from outbox.queue.status import SNAPSHOT_BUDGET, QueueStatus, get_queue_status
from outbox.queue.streams import BACKLOG_AGE_BUDGET, FRESH_AGE_BUDGET, FRESH_FOR
from outbox.queue.sweeper import take_back_expired
from outbox.queue.tallies import BOUNDS, COUNTS, Teller, find_percentile
from outbox.queue.worker import Worker
from outbox.stopping import Stop
from tests.outbox.queue.workshop import (
    LEASE,
    Workshop,
    claim_batch,
    make_claimer,
    queue,
    registered,
)

pytestmark = pytest.mark.django_db(transaction=True)


def now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def describe(status: QueueStatus) -> tuple[int, ...]:
    return (
        status.lanes[Lane.FRESH].ready,
        status.lanes[Lane.BACKLOG].ready,
        status.put_off,
        status.running,
        status.expired,
        status.suspects,
    )


def test_an_empty_queue_is_well() -> None:
    status = get_queue_status()
    assert describe(status) == (0, 0, 0, 0, 0, 0)
    assert (status.claim_p99, status.retry_ratio, status.finished_per_second) == (None, 0, 0)
    assert status.counts == dict.fromkeys(COUNTS, 0)
    assert status.alarms == []


def test_each_job_is_counted_where_it_will_be_served() -> None:
    queue(7)
    claim_batch(batch=2)
    Job.objects.filter(subject_id=uuid.UUID(int=0)).update(leased_until=now() - dt.timedelta(seconds=1))
    Job.objects.filter(subject_id=uuid.UUID(int=2)).update(run_at=now() + dt.timedelta(hours=1))
    Job.objects.filter(subject_id=uuid.UUID(int=3)).update(run_at=now() - FRESH_FOR - dt.timedelta(seconds=9))
    Job.objects.filter(subject_id=uuid.UUID(int=4)).update(lost_leases=1)
    queue(1, first=100, lane=Lane.BACKLOG)
    assert describe(get_queue_status()) == (3, 2, 1, 2, 1, 1)


@pytest.mark.parametrize(
    ("lane", "budget", "words"),
    [
        (Lane.FRESH, FRESH_AGE_BUDGET, "oldest job of the fresh lane"),
        (Lane.BACKLOG, BACKLOG_AGE_BUDGET, "oldest job of the backlog lane"),
    ],
)
def test_age_raises_the_alarm_and_depth_does_not(lane: Lane, budget: float, words: str) -> None:
    """O10: pick-up delay is measured and alarmed."""
    queue(300, lane=lane, run_at=None)
    assert get_queue_status().alarms == []
    queue(1, first=1000, lane=lane, run_at=now() - dt.timedelta(seconds=budget + 5))
    status = get_queue_status()
    assert 5 <= status.lanes[lane].oldest_age - budget < 60
    (alarm,) = status.alarms
    assert words in alarm


def test_a_snapshot_held_open_is_named(database_url: str) -> None:
    """O26: an alarm names the holder."""
    with psycopg.connect(database_url, application_name="a forgotten dump") as reader:
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM outbox_job")
        (holder,) = [each for each in get_queue_status().snapshot_holders if "a forgotten dump" in each.name]
        assert (holder.kind, holder.seconds is not None) == ("session", True)
        status = dataclasses.replace(
            get_queue_status(),
            snapshot_holders=(
                dataclasses.replace(holder, seconds=SNAPSHOT_BUDGET + 1),
                dataclasses.replace(holder, name="another", seconds=SNAPSHOT_BUDGET - 1),
                dataclasses.replace(holder, name="a slot", seconds=None),
            ),
        )
        assert status.alarms == [
            f"The session {holder.name} has held a snapshot for 61 s: dead rows pile up."
        ]
    assert not [each for each in get_queue_status().snapshot_holders if "a forgotten dump" in each.name]


def test_a_worker_tells_what_it_did() -> None:
    queue(30)
    with registered(Workshop()), Stop() as stop, Keeper(Heart("worker"), LEASE) as keeper:
        worker = Worker(make_claimer(batch=10), keeper, stop)
        while worker.step():
            pass
        worker.teller.tell()
    status = get_queue_status()
    assert status.counts == dict.fromkeys(COUNTS, 0) | {"first_tries": 30, "finished": 30}
    assert 60 <= status.seconds <= 120
    assert status.finished_per_second == 30 / status.seconds
    assert status.claim_p99 in (*BOUNDS, float("inf"))


def test_losses_are_told_by_the_sweeper() -> None:
    queue(2)
    claim_batch()
    Job.objects.update(leased_until=now() - dt.timedelta(seconds=1))
    take_back_expired()
    assert get_queue_status().counts["lost_leases"] == 2


def test_tellers_add_to_rows_of_their_own() -> None:
    one, two = Teller(), Teller()
    for _ in range(2):
        one.add(first_tries=3, retries=1)
        one.time_claim(0.0015)
        one.tell()
    two.time_claim(99)
    two.tell()
    two.tell()  # nothing new
    assert QueueTally.objects.count() >= 2
    status = get_queue_status()
    assert (status.counts["first_tries"], status.counts["retries"]) == (6, 2)
    assert status.retry_ratio == pytest.approx(1 / 3)
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(claims[2]), sum(claims[12]) FROM outbox_queuetally")
        assert cursor.fetchone() == (2, 1)


def test_what_could_not_be_told_is_told_the_next_time(database_url: str) -> None:
    teller = Teller()
    teller.add(finished=5)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (ours,) = cursor.fetchone()
    with psycopg.connect(database_url, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(%s)", [ours])
    with pytest.raises(Exception, match=r"terminat|closed"):
        teller.tell()
    connection.close()
    teller.tell()
    assert get_queue_status().counts["finished"] == 5


@given(durations=st.lists(st.sampled_from([0.0005, 0.004, 0.03, 0.3, 9.0]), min_size=1, max_size=300))
def test_the_percentile_is_a_bound_that_enough_claims_stay_within(durations: list[float]) -> None:
    teller = Teller()
    for seconds in durations:
        teller.time_claim(seconds)
    p99 = find_percentile(teller._claims, 0.99)
    assert p99 is not None
    (*_, next_lower) = [bound for bound in (0.0, *BOUNDS) if bound < p99]
    assert sum(seconds <= p99 for seconds in durations) >= 0.99 * len(durations)
    assert sum(seconds <= next_lower for seconds in durations) < 0.99 * len(durations)
