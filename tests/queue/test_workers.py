"""Q1 to Q6: workers that freeze, die, run on a wrong clock or kill themselves, and jobs that appear late. Every job ends once.

Each runs in seconds as part of the suite; the long ones (`make chaos`) are the same with other numbers.
"""

import os
import random
import signal
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack

import psycopg
import pytest

from outbox.models import DeadLetter, Event, FinishedJob, Job
from outbox.models.jobs import Cause
from tests.outbox.queue.workshop import EXAM, KIND, TENANT, name_subject, queue, read_notes
from tests.processes.running import Running
from tests.processes.workers import Start, nothing_is_running, start
from tests.processes.workplace.apps import FIRST_KILLER
from tests.queue.skewed import skewed_by
from tests.waiting import wait_until

__all__ = ["start"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process, pytest.mark.timeout(1200)]
chaos = pytest.mark.chaos


def assert_each_done_once(count: int) -> None:
    """One effect and one finished job each, and nothing left behind."""
    assert read_notes() == {name_subject(uuid.UUID(int=number)): 1 for number in range(count)}
    assert FinishedJob.objects.count() == count
    assert (Job.objects.count(), DeadLetter.objects.count()) == (0, 0)


def has_ended(count: int) -> Callable[[], bool]:
    return lambda: FinishedJob.objects.count() + DeadLetter.objects.count() >= count


@pytest.mark.parametrize("freezes", [1, pytest.param(20, marks=chaos)])
def test_q1_a_worker_frozen_past_its_lease_changes_nothing_when_it_wakes(start: Start, freezes: int) -> None:
    with start("sweep"):
        for turn in range(freezes):
            queue(30, first=30 * turn)
            with start(
                "run_worker", HANDOVER_FAULT_POINT="before_settle:stop", JOB_LEASE_SECONDS="1"
            ) as frozen:
                frozen.wait_until_frozen()
                wait_until(nothing_is_running, seconds=60)
                with start("run_worker", "--once") as other:
                    assert other.wait() == 0
                before = Event.objects.count()
                frozen.send(signal.SIGCONT)
                frozen.send(signal.SIGTERM)
                assert frozen.wait() == 0
                assert "30 lost" in frozen.output
            assert Event.objects.count() == before
    assert_each_done_once(30 * freezes)


class Workforce:
    """Workers of which one is killed now and then and replaced at once, as a supervisor does."""

    def __init__(self, start: Start, size: int, stack: ExitStack) -> None:
        self._start, self._stack = start, stack
        self._chance = random.Random(20261129)
        self._workers = [self._hire() for _ in range(size)]

    def _hire(self) -> Running:
        return self._stack.enter_context(self._start("run_worker", "--batch", "5", JOB_LEASE_SECONDS="30"))

    def lose_one(self) -> None:
        """Kill one, whoever it is."""
        victim = self._chance.choice(self._workers)
        self._workers.remove(victim)
        victim.send(signal.SIGKILL)
        assert victim.wait() == -signal.SIGKILL
        self._workers.append(self._hire())


@pytest.mark.parametrize(
    ("size", "kills", "pause"),
    [(2, 3, 0.0), pytest.param(5, int(os.environ.get("CHAOS_KILLS", "60")), 10.0, marks=chaos)],
    ids=["short", "full"],
)
def test_q2_every_job_ends_once_while_a_fifth_of_the_workers_is_killed_again_and_again(
    start: Start, size: int, kills: int, pause: float
) -> None:
    with ExitStack() as stack:
        stack.enter_context(start("sweep"))
        force = Workforce(start, size, stack)
        for turn in range(kills):
            queue(400, first=400 * turn, run_at=None)
            done = FinishedJob.objects.count()
            wait_until(lambda done=done: FinishedJob.objects.count() > done, seconds=60)  # type: ignore[misc]
            time.sleep(pause)
            force.lose_one()
        wait_until(has_ended(400 * kills), seconds=40)  # a lease and ten seconds
    assert_each_done_once(400 * kills)


@pytest.mark.parametrize("jobs", [300, pytest.param(20_000, marks=chaos)])
def test_q3_workers_whose_clocks_are_two_minutes_wrong_do_each_job_once_and_none_waits(
    start: Start, jobs: int
) -> None:
    """Only the database's clock decides, so a frozen worker of the past and the sweeper of the future agree about its lease."""
    queue(jobs, run_at=None)
    with ExitStack() as stack:
        frozen = stack.enter_context(
            start(
                "run_worker",
                HANDOVER_FAULT_POINT="before_settle:stop",
                JOB_LEASE_SECONDS="2",
                **skewed_by(+120),
            )
        )
        frozen.wait_until_frozen()
        stack.enter_context(start("sweep", **skewed_by(+120)))
        stack.enter_context(start("run_worker", JOB_LEASE_SECONDS="2", **skewed_by(-120)))
        wait_until(has_ended(jobs), seconds=60)
        frozen.send(signal.SIGCONT)
        frozen.send(signal.SIGTERM)
        assert frozen.wait() == 0
    assert_each_done_once(jobs)


@pytest.mark.parametrize("killers", [1, pytest.param(12, marks=chaos)])
def test_q4_jobs_that_kill_their_worker_are_dead_letters_after_three_and_all_others_are_done(
    start: Start, killers: int
) -> None:
    queue(500, run_at=None)
    queue(killers, first=FIRST_KILLER, run_at=None)
    with start("sweep"):
        while Job.objects.exists():
            with start("run_worker", "--once", JOB_LEASE_SECONDS="3600") as worker:
                assert worker.wait() in {0, -signal.SIGKILL}
            wait_until(nothing_is_running, seconds=60)
    assert set(DeadLetter.objects.values_list("cause", "lost_leases")) == {(Cause.LOST_LEASES, 3)}
    assert DeadLetter.objects.count() == killers
    DeadLetter.objects.all().delete()
    assert_each_done_once(500)


LATE = """
    INSERT INTO outbox_job (tenant_id, group_id, job_id, kind, subject_id, run_at)
    VALUES (%s, %s, gen_random_uuid(), %s, %s, clock_timestamp())
"""


@pytest.mark.parametrize("rounds", [1, pytest.param(int(os.environ.get("CHAOS_ROUNDS", "30")), marks=chaos)])
def test_q6_a_job_committed_late_behind_the_hint_is_done_before_what_stands_before_the_worker(
    start: Start, database_url: str, rounds: int
) -> None:
    """Its insert comes first and its commit last, when the worker has gone past its place and has enough to do elsewhere."""
    with start("run_worker", "--batch", "5"), psycopg.connect(database_url) as late:
        for turn in range(rounds):
            subject = uuid.UUID(int=10_000 * turn)
            late.execute(LATE, [TENANT, EXAM, KIND, subject])
            queue(5_000, first=10_000 * turn + 1, run_at=None)
            wait_until(lambda turn=turn: FinishedJob.objects.count() > 5_001 * turn, seconds=60)  # type: ignore[misc]
            late.commit()
            wait_until(FinishedJob.objects.filter(subject_id=subject).exists, seconds=60)
            assert Job.objects.count() > 0  # it did not have to wait for the end of the line
            wait_until(has_ended(5_001 * (turn + 1)), seconds=60)
    assert set(read_notes().values()) == {1}
