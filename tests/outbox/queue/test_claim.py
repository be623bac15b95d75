"""Taking jobs: what a claim takes, in which order, and what it leaves alone."""

import ast
import datetime as dt
import inspect
import re
import uuid
from collections.abc import Iterable

import psycopg
import pytest
from django.db.models import F
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries

from outbox.models import Job, JobState, Lane
from outbox.queue import claim, dead_letters, jobs, keeper, retry, settle, streams, sweeper, worker
from outbox.queue.claim import SUSPECTS_TOGETHER
from outbox.queue.streams import BACKLOG_AGE_BUDGET, FRESH_FOR, Allowance
from tests.outbox.queue.workshop import (
    EXAM,
    KIND,
    LEASE,
    arrival,
    claim_batch,
    make_claimer,
    numbers_of,
    queue,
    read_row,
)

OTHER_EXAM = uuid.UUID(int=200)
ME = uuid.UUID(int=9)
pytestmark = pytest.mark.django_db(transaction=True)


def look_again(claimer: claim.Claimer) -> None:
    """Make the next claim start with a new look, as it does when a second has passed."""
    claimer._next_look = 0.0


def test_claim_leases_the_job_and_counts_the_try() -> None:
    (new,) = queue(1)
    taken = claim_batch(by=ME)
    (job,) = taken.jobs
    row = read_row(Job)
    assert row["leased_until"] - row["created_at"] >= LEASE
    assert {name: row[name] for name in ("state", "tries", "lease_id", "leased_by")} == {
        "state": JobState.RUNNING,
        "tries": 1,
        "lease_id": taken.lease_id,
        "leased_by": ME,
    }
    assert (taken.kind, job.job_id, job.subject_id, job.tries, job.lost_leases, job.lease_id) == (
        KIND,
        new.job_id,
        new.subject_id,
        1,
        0,
        taken.lease_id,
    )


def test_every_claim_has_a_lease_of_its_own() -> None:
    queue(2)
    claimer = make_claimer(batch=1)
    leases = {taken.lease_id for taken in (claimer.claim(by=None), claimer.claim(by=None)) if taken}
    assert len(leases) == 2


def test_claim_of_an_empty_queue_is_none() -> None:
    assert make_claimer().claim(by=None) is None


def test_claim_takes_no_more_than_a_batch_in_order_of_arrival() -> None:
    queue(2)
    queue(1, first=9, run_at=arrival(-1))
    claimer = make_claimer(batch=2)
    assert [numbers_of(claimer.claim(by=None)) for _ in range(3)] == [[9, 0], [1], []]


def test_claim_leaves_jobs_that_are_not_due() -> None:
    later = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
    queue(1, run_at=later)
    queue(1, first=1)
    assert numbers_of(claim_batch()) == [1]
    assert make_claimer().claim(by=None) is None


def test_claim_finds_a_job_as_soon_as_it_is_due() -> None:
    queue(1, run_at=dt.datetime.now(dt.UTC) + dt.timedelta(hours=1))
    claimer = make_claimer()
    assert claimer.claim(by=None) is None
    Job.objects.update(run_at=Now())
    assert numbers_of(claimer.claim(by=None)) == [0]


def test_claim_takes_urgent_jobs_of_an_exam_first() -> None:
    queue(2)
    queue(1, first=2, priority=-1)
    claimer = make_claimer(batch=2)
    assert [numbers_of(claimer.claim(by=None)) for _ in range(2)] == [[2], [0, 1]]


def test_claim_takes_one_kind_at_a_time_and_only_kinds_it_was_given() -> None:
    queue(2)
    queue(2, kind="other")
    queue(2, kind="unknown")
    claimer = make_claimer(kinds=[KIND, "other"])
    taken = [claimer.claim(by=None) for _ in range(3)]
    assert sorted(batch.kind for batch in taken if batch) == [KIND, "other"]
    assert Job.objects.filter(kind="unknown", state=JobState.READY).count() == 2


def test_claim_passes_over_rows_that_others_hold(database_url: str) -> None:
    held = queue(3)[0]
    with psycopg.connect(database_url) as other:
        other.execute("SELECT FROM outbox_job WHERE job_id = %s FOR UPDATE", [held.job_id])
        assert numbers_of(claim_batch()) == [1, 2]


def test_a_small_exam_is_served_with_the_first_batch_of_a_large_one() -> None:
    queue(500)
    queue(5, first=500, group_id=OTHER_EXAM)
    assert sum(number >= 500 for number in numbers_of(claim_batch())) == 5


def test_no_exam_waits_longer_than_one_round_when_there_are_more_exams_than_places() -> None:
    for exam in range(12):
        queue(20, first=100 * exam, group_id=uuid.UUID(int=1000 + exam))
    claimer = make_claimer(batch=5)
    served = [{number // 100 for number in numbers_of(claimer.claim(by=None))} for _ in range(3)]
    assert [len(exams) for exams in served] == [5, 5, 5]
    assert set.union(*served) == set(range(12))


def test_a_large_exam_gets_the_whole_batch_once_the_small_ones_are_done() -> None:
    queue(200)
    for exam in range(9):
        queue(1, first=1000 + exam, group_id=uuid.UUID(int=2000 + exam))
    claimer = make_claimer()
    first, second = claimer.claim(by=None), claimer.claim(by=None)
    assert sum(number >= 1000 for number in numbers_of(first)) == 9
    assert len(numbers_of(second)) == 50


def test_claim_keeps_to_the_cap_of_one_exam() -> None:
    queue(100)
    queue(100, first=100, group_id=OTHER_EXAM)
    taken = make_claimer(per_group=10).claim(by=None)
    assert taken
    assert sorted(job.group_id for job in taken.jobs) == [EXAM] * 10 + [OTHER_EXAM] * 10


def test_backlog_gets_one_claim_in_five_while_there_is_fresh_work() -> None:
    queue(20)
    queue(20, first=100, lane=Lane.BACKLOG)
    claimer = make_claimer(batch=1)
    lanes = [number >= 100 for _ in range(20) for number in numbers_of(claimer.claim(by=None))]
    assert (lanes.count(False), lanes.count(True)) == (16, 4)


def test_backlog_gets_four_claims_in_five_when_its_oldest_job_is_over_its_budget() -> None:
    queue(20, run_at=None)
    old = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=BACKLOG_AGE_BUDGET + 60)
    queue(20, first=100, lane=Lane.BACKLOG, run_at=old)
    claimer = make_claimer(batch=1)
    lanes = [number >= 100 for _ in range(20) for number in numbers_of(claimer.claim(by=None))]
    assert (lanes.count(False), lanes.count(True)) == (4, 16)


def age(numbers: range, *, by: dt.timedelta) -> None:
    """Make these jobs due so much earlier."""
    Job.objects.filter(subject_id__in=[uuid.UUID(int=number) for number in numbers]).update(
        run_at=F("run_at") - by
    )


def test_fresh_work_that_waited_too_long_is_served_with_the_backlog() -> None:
    """After an outage: who hands in now does not stand behind everybody who did meanwhile, and these are not forgotten."""
    queue(40)
    age(range(20), by=FRESH_FOR)
    claimer = make_claimer(batch=1)
    taken = [number for _ in range(20) for number in numbers_of(claimer.claim(by=None))]
    assert [number for number in taken if number >= 20] == list(range(20, 36))
    assert [number for number in taken if number < 20] == list(range(4))


def test_old_fresh_work_and_regrades_of_one_exam_share_the_backlogs_turns() -> None:
    queue(2)
    age(range(2), by=FRESH_FOR)
    queue(2, first=100, lane=Lane.BACKLOG)
    claimer = make_claimer(batch=2)
    assert sorted(number for _ in range(3) for number in numbers_of(claimer.claim(by=None))) == [
        0,
        1,
        100,
        101,
    ]


def test_no_more_of_the_backlog_is_taken_than_the_allowance_lets_through() -> None:
    queue(30, lane=Lane.BACKLOG)
    now = [0.0]
    claimer = make_claimer(batch=10)
    claimer.backlog = Allowance(20, clock=lambda: now[0])
    taken = [len(numbers_of(claimer.claim(by=None))) for _ in range(3)]
    assert (taken, claimer.held_back) == ([10, 10, 0], True)
    queue(1, first=100)
    look_again(claimer)
    assert numbers_of(claimer.claim(by=None)) == [100]  # fresh work is not held back with it
    now[0] += 1
    assert (len(numbers_of(claimer.claim(by=None))), claimer.held_back) == (10, False)


def test_backlog_is_taken_at_once_when_nothing_fresh_waits() -> None:
    queue(3, lane=Lane.BACKLOG)
    assert numbers_of(claim_batch()) == [0, 1, 2]


def lose(numbers: Iterable[int], *, leases: int = 1) -> None:
    """Have these jobs lost so many leases."""
    Job.objects.filter(subject_id__in=[uuid.UUID(int=number) for number in numbers]).update(
        lost_leases=leases
    )


def test_jobs_that_lost_a_lease_are_claimed_apart_and_by_turns_with_the_others() -> None:
    queue(6)
    lose([1, 2])
    claimer = make_claimer(batch=2)
    batches = [numbers_of(claimer.claim(by=None)) for _ in range(4)]
    assert batches == [[0, 3], [1, 2], [4, 5], []]


def test_jobs_that_lost_two_leases_are_claimed_alone() -> None:
    queue(3)
    lose([1, 2], leases=2)
    claimer = make_claimer()
    batches = [numbers_of(claimer.claim(by=None)) for _ in range(4)]
    assert batches == [[0], [1], [2], []]


def test_the_company_of_a_job_that_lost_leases_shrinks_to_none_before_its_last_try() -> None:
    """O09: whoever kills 250 neighbours' holder kills at most fifteen neighbours' the second time, and dies alone the third."""
    queue(250)
    company = []
    for leases in range(3):
        lose(range(250), leases=leases)
        claimer = make_claimer(batch=250, per_group=250)
        company.append(len(numbers_of(claimer.claim(by=None))))
        Job.objects.update(state=JobState.READY, lease_id=None, leased_until=None, leased_by=None)
    assert company == [250, SUSPECTS_TOGETHER, 1]


def test_of_the_jobs_that_lost_leases_the_least_suspect_goes_first() -> None:
    queue(3)
    lose([1, 2])
    lose([0], leases=2)
    claimer = make_claimer()
    assert [numbers_of(claimer.claim(by=None)) for _ in range(2)] == [[1, 2], [0]]


def test_a_job_committed_late_behind_the_hint_is_found_by_the_next_look() -> None:
    """Q6: the forward hint must not hide what appears behind it."""
    queue(10, first=10)
    claimer = make_claimer(batch=5)
    assert numbers_of(claimer.claim(by=None)) == [10, 11, 12, 13, 14]
    queue(1, first=1)  # began before the others, committed after their claim
    look_again(claimer)
    assert numbers_of(claimer.claim(by=None)) == [1, 15, 16, 17, 18]


def test_a_job_behind_the_hint_is_found_without_waiting_when_nothing_else_is_left() -> None:
    queue(1, first=10)
    claimer = make_claimer()
    claimer.claim(by=None)
    queue(1, first=1)
    assert numbers_of(claimer.claim(by=None)) == [1]


def test_a_retry_behind_the_hint_is_claimed_when_it_is_due() -> None:
    """Q6, for a job that was given back."""
    queue(4)
    claimer = make_claimer(batch=2)
    first = claimer.claim(by=None)
    assert first
    Job.objects.filter(lease_id=first.lease_id).update(
        state=JobState.READY, lease_id=None, leased_until=None, leased_by=None
    )
    look_again(claimer)
    assert numbers_of(claimer.claim(by=None)) == [0, 1]


@pytest.mark.parametrize(("cost", "pause"), [(0.0, 0.1), (0.004, 0.1), (0.02, 0.4), (3.0, 1.0)])
def test_the_next_look_comes_soon_and_takes_little_of_the_workers_time(cost: float, pause: float) -> None:
    assert claim.plan_next_look(cost) == pytest.approx(pause)


@pytest.mark.parametrize("waiting", [1, 3])
def test_a_claim_between_two_looks_is_one_statement(
    waiting: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    queue(1 + waiting)
    claimer = make_claimer(batch=1)
    claimer.claim(by=None)
    claimer._suspects = False
    with django_assert_num_queries(1):
        claimer.claim(by=None)


def test_only_the_databases_clock_decides() -> None:
    """Q3, light: no module of the queue asks this machine for the time of day, so its clock may be off by any amount."""
    modules = (claim, dead_letters, jobs, keeper, retry, settle, streams, sweeper, worker)
    calls = [
        ast.unparse(node.func)
        for module in modules
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Call)
    ]
    wall_clock = re.compile(r"(^|\.)(now|utcnow|today|time|localtime|gmtime)$")
    assert [call for call in calls if wall_clock.search(call)] == []
    assert "time.monotonic" in calls  # the search does see calls
