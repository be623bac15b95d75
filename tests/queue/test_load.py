"""L5, L6, L7, L10: a storm of retries, a long queue, a snapshot held open, one exam that is larger than all others.

In the suite each asserts what causes the figure (counts, pages, turns); the full ones (`make chaos`) assert the figure.
"""

import datetime as dt
import math
import statistics
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection

from outbox.log.sequencer import sequence_events
from outbox.loop import run_loop
from outbox.models import FinishedJob, Job
from outbox.processes import Heart
from outbox.queue.claim import Claimer
from outbox.queue.handlers import ClaimedJob, Outcome, Transient
from outbox.queue.keeper import Keeper
from outbox.queue.retry import TOKENS_PER_MINUTE
from outbox.queue.settle import Settled
from outbox.queue.status import SNAPSHOT_BUDGET, get_queue_status
from outbox.queue.streams import Allowance
from outbox.queue.worker import Worker
from outbox.stopping import Stop
from tests.outbox.queue import plans
from tests.outbox.queue.workshop import (
    LEASE,
    Workshop,
    make_claimer,
    numbers_of,
    queue,
    registered,
    work_on,
)
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]
chaos = pytest.mark.chaos
LARGE = uuid.UUID(int=5000)


def tell(figure: str) -> None:
    print(f"\n{figure}")  # noqa: T201 - the figures are what a full run is for


@contextmanager
def employed(workshop: Workshop, *, batch: int = 50) -> Iterator[Worker]:
    with registered(workshop), Stop() as stop, Keeper(Heart("worker"), LEASE) as keeper:
        yield Worker(make_claimer(batch=batch, per_group=batch), keeper, stop)


def fail(job: ClaimedJob) -> Outcome:
    return Transient(job, TimeoutError("the answer key's server is away"))


@pytest.mark.parametrize("jobs", [1_000, pytest.param(30_000, marks=chaos)])
def test_l5_in_a_storm_no_more_than_a_tenth_of_the_first_tries_is_tried_again(jobs: int) -> None:
    """Every job fails every time, and every one would be tried three times."""
    queue(jobs)
    begun = time.monotonic()
    ended: Counter[Settled] = Counter()
    for _ in range(3):
        with employed(Workshop(fate=fail)) as worker:
            run_loop(worker.step_until_idle, worker.stop, rest=(0.01, 0.02))
            worker.teller.tell()
        ended += worker.ended
        Job.objects.update(run_at=dt.datetime.now(dt.UTC) - dt.timedelta(seconds=1))
    minutes = (time.monotonic() - begun) / 60
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(first_tries), sum(retries) FROM outbox_queuetally")
        first_tries, retries = cursor.fetchone()
    assert first_tries == jobs
    assert 0 < retries <= 0.1 * jobs + TOKENS_PER_MINUTE * (1 + minutes)
    assert ended[Settled.SNOOZED] > 0


def measure_claims(claimer: Claimer, count: int) -> list[float]:
    """Return how long so many claims took, each followed by the end of its batch."""
    workshop, durations = Workshop(), []
    claimer.backlog = Allowance(
        10.0**9
    )  # these jobs are old, and what is measured is not how slowly such are taken
    for _ in range(count):
        begun = time.perf_counter()
        claim = claimer.claim(by=None)
        durations.append(time.perf_counter() - begun)
        assert claim is not None
        work_on(workshop, claim)
    return durations


@pytest.mark.parametrize(
    ("finished", "ready"), [(20_000, 5_000), pytest.param(1_000_000, 200_000, marks=chaos)]
)
def test_l6_a_claim_of_twenty_costs_the_same_whatever_waits_and_has_finished(
    finished: int, ready: int
) -> None:
    plans.fill(plans.WAITING, 500)
    few = plans.count_pages(plans.explain_claim())
    plans.fill(plans.WAITING, ready)
    plans.fill(plans.FINISHED, finished)
    assert plans.count_pages(plans.explain_claim()) <= few + plans.A_LEVEL_MORE
    durations = measure_claims(make_claimer(batch=20), 200 if ready > 5_000 else 20)
    if ready > 5_000:
        p99 = statistics.quantiles(durations, n=100)[98]
        tell(f"L6: claim of 20 p50 {statistics.median(durations):.4f} s, p99 {p99:.4f} s")
        assert p99 <= 0.025


@pytest.mark.parametrize(("jobs", "seconds"), [(3_000, 0.0), pytest.param(600_000, 70.0, marks=chaos)])
def test_l7_a_snapshot_held_open_is_named_and_the_hint_keeps_claims_from_its_dead_rows(
    database_url: str, jobs: int, seconds: float
) -> None:
    plans.fill(plans.WAITING, jobs)
    claimer = make_claimer(batch=50)
    free = measure_claims(claimer, 20)
    with psycopg.connect(database_url, application_name="held open") as reader:
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM outbox_job")
        held, begun = measure_claims(claimer, 20), time.monotonic()
        while time.monotonic() - begun < seconds:
            held = measure_claims(claimer, 20)
        assert [each for each in get_queue_status().snapshot_holders if "held open" in each.name]
        if seconds > SNAPSHOT_BUDGET:
            tell(
                f"L7: claim of 50 {statistics.median(free):.4f} s free, {statistics.median(held):.4f} s held"
            )
            assert statistics.median(held) <= 2 * statistics.median(free)
            assert any("held open" in alarm for alarm in get_queue_status().alarms)
            passes: list[float] = []
            for _ in range(20):
                queue(1, first=10_000_000 + len(passes), run_at=None)
                work_on(Workshop(), make_claimer().claim(by=None) or pytest.fail("nothing to claim"))
                begun = time.perf_counter()
                sequence_events()
                passes.append(time.perf_counter() - begun)
            tell(f"L7: pass of the sequencer {statistics.median(passes):.4f} s")
            assert statistics.median(passes[1:]) <= 0.005


def queue_small_exams(exams: int, each: int) -> None:
    for exam in range(exams):
        queue(each, first=1000 * (exam + 1), group_id=uuid.UUID(int=exam + 1), run_at=None)


def count_claims_until_small_exams_are_done() -> int:
    claimer = make_claimer(batch=50)
    for claims in range(1, 1000):
        numbers_of(claimer.claim(by=None))
        if not Job.objects.filter(state=0).exclude(group_id=LARGE).exists():
            return claims
    raise AssertionError("They starve.")


def test_l10_small_exams_wait_at_most_twice_as_many_claims_beside_one_that_is_nine_tenths_of_all() -> None:
    queue_small_exams(20, 5)
    quiet = count_claims_until_small_exams_are_done()
    Job.objects.all().delete()
    queue(900, first=100_000, group_id=LARGE)
    queue_small_exams(20, 5)
    assert count_claims_until_small_exams_are_done() <= 2 * quiet


def trickle(exams: int, seconds: float, *, large: int) -> list[float]:
    """Have small exams trickle in, beside a large one if there is one; return how long each small job took to its end."""
    begun, number = time.monotonic(), 0
    while time.monotonic() - begun < seconds:
        number += 1
        queue(1, first=number, group_id=uuid.UUID(int=1 + number % exams), run_at=None)
        if large:
            queue(large, first=1_000_000 + number * 1000, group_id=LARGE, run_at=None)
        time.sleep(0.05)
    wait_until(lambda: not Job.objects.exists(), seconds=120)
    ended = FinishedJob.objects.exclude(group_id=LARGE).values_list("created_at", "finished_at")
    ages = [(finished - created).total_seconds() for created, finished in ended]
    FinishedJob.objects.all().delete()
    return ages


@chaos
def test_l10_full_small_exams_are_served_as_soon_as_when_they_are_alone() -> None:
    def work() -> None:
        try:
            with Keeper(Heart("worker"), LEASE) as keeper:
                run_loop(Worker(make_claimer(batch=50), keeper, stop).step, stop)
        finally:
            connection.close()

    with registered(Workshop()), Stop() as stop:
        thread = threading.Thread(target=work)
        thread.start()
        try:
            quiet = trickle(20, 30, large=0)
            loaded = trickle(20, 30, large=9)
        finally:
            stop.set()
            thread.join(30)
    p99s = [sorted(ages)[math.ceil(0.99 * len(ages)) - 1] for ages in (quiet, loaded)]
    tell(f"L10: p99 of small exams {p99s[0]:.3f} s quiet, {p99s[1]:.3f} s beside a large one")
    assert p99s[1] <= 2 * p99s[0]
