"""A worker that dies or freezes at any point of its turn: every job is done, once (P2, P9; O08, O09; Q1, Q4)."""

import signal
import uuid

import psycopg
import pytest
from django.db import connection

from outbox.models import DeadLetter, FinishedJob, Heartbeat, Job, JobState
from outbox.models.jobs import Cause
from tests.outbox.queue.workshop import name_subject, queue, read_notes
from tests.processes.workers import Start, nothing_is_running, start, sweep_until
from tests.processes.workplace.apps import FIRST_HANGER, FIRST_KILLER, FIRST_WAITER, GATE
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process, pytest.mark.timeout(300)]
__all__ = ["start"]
POINTS = ["after_claim", "before_settle", "in_settle", "after_commit"]


def assert_each_done_once(count: int) -> None:
    """One effect, one event and one finished job each, and nothing left behind."""
    assert read_notes() == {name_subject(uuid.UUID(int=number)): 1 for number in range(count)}
    assert FinishedJob.objects.count() == count
    assert (Job.objects.count(), DeadLetter.objects.count()) == (0, 0)


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_at_any_point_leaves_every_job_done_once(start: Start, point: str) -> None:
    """With a lease of an hour: it is the missing sign of life that brings the jobs back, not the lease."""
    queue(60)
    with start("run_worker", HANDOVER_FAULT_POINT=f"{point}:kill", JOB_LEASE_SECONDS="3600") as worker:
        assert worker.wait() == -signal.SIGKILL
    sweep_until(nothing_is_running)
    with start("run_worker", "--once") as other:
        assert other.wait() == 0
    assert_each_done_once(60)


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_frozen_past_its_lease_at_any_point_leaves_every_job_done_once(
    start: Start, point: str
) -> None:
    """It wakes up in the middle of what it was doing, after others have done it, and must change nothing."""
    queue(60)
    with start("run_worker", HANDOVER_FAULT_POINT=f"{point}:stop", JOB_LEASE_SECONDS="1") as frozen:
        frozen.wait_until_frozen()
        sweep_until(nothing_is_running)
        with start("run_worker", "--once") as other:
            assert other.wait() == 0
        assert_each_done_once(60)
        frozen.send(signal.SIGCONT)
        queue(1, first=60)
        wait_until(lambda: FinishedJob.objects.count() == 61)  # it is well again, and works
        frozen.send(signal.SIGTERM)
        assert frozen.wait() == 0
    assert_each_done_once(61)


def test_a_job_that_kills_its_worker_is_parked_after_three_while_all_others_are_done(start: Start) -> None:
    """O09, Q4: and none of the neighbours in its batch is given up with it."""
    queue(500)
    (killer,) = queue(1, first=FIRST_KILLER, run_at=None)
    Job.objects.filter(job_id=killer.job_id).update(run_at=Job.objects.order_by("run_at")[20].run_at)
    deaths = 0
    with start("sweep"):
        while Job.objects.exists():
            with start("run_worker", "--once", JOB_LEASE_SECONDS="3600") as worker:
                deaths += worker.wait() == -signal.SIGKILL
            wait_until(nothing_is_running, seconds=60)
    assert deaths == 3
    letter = DeadLetter.objects.get()
    assert (letter.job_id, letter.cause, letter.tries, letter.lost_leases) == (
        killer.job_id,
        Cause.LOST_LEASES,
        3,
        3,
    )
    letter.delete()
    assert_each_done_once(500)


def test_a_job_that_never_ends_ends_its_worker_and_not_the_queue(start: Start) -> None:
    queue(3)
    (hanger,) = queue(1, first=FIRST_HANGER, run_at=None)
    exit_codes = []
    with start("sweep"):
        while Job.objects.exists():
            with start("run_worker", "--once", "--batch-seconds", "0.5", JOB_LEASE_SECONDS="3600") as worker:
                exit_codes.append(worker.wait())
                output = worker.output
            if exit_codes[-1]:
                assert "Timeout" in output
                assert "in fate" in output  # where it hung
            wait_until(nothing_is_running, seconds=60)
    assert sorted(exit_codes) in ([0, 1, 1, 1], [1, 1, 1])
    assert DeadLetter.objects.get().job_id == hanger.job_id
    assert len(read_notes()) == 3


def test_sigterm_lets_the_batch_in_hand_be_finished_and_takes_no_other(
    start: Start, database_url: str
) -> None:
    queue(2, first=FIRST_WAITER, run_at=None)
    with psycopg.connect(database_url, autocommit=True) as gate:
        gate.execute("SELECT pg_advisory_lock(%s)", [GATE])
        with start("run_worker", "--batch", "1") as worker:
            waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND NOT granted"
            wait_until(lambda: gate.execute(waiting, [GATE]).fetchall(), seconds=60)
            worker.send(signal.SIGTERM)  # only claimed, the job would be given back
            gate.execute("SELECT pg_advisory_unlock(%s)", [GATE])
            assert worker.wait() == 0
            assert "Ended. 1 finished" in worker.output
    assert FinishedJob.objects.count() == 1
    assert list(Job.objects.values_list("state", "tries")) == [(JobState.READY, 0)]
    assert not Heartbeat.objects.filter(role="worker").exists()


def test_a_worker_goes_on_after_the_server_cut_all_its_connections(start: Start, database_url: str) -> None:
    """O10: nothing has to be subscribed to again; the poll is enough."""
    with start("run_worker") as worker:
        queue(1)
        wait_until(lambda: FinishedJob.objects.count() == 1, seconds=60)
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> ALL(%s)"
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            (ours,) = cursor.fetchone()
        with psycopg.connect(database_url, autocommit=True) as admin:
            backends = admin.execute(cut, [[ours, admin.info.backend_pid]]).fetchall()
        assert len(backends) >= 2  # the worker's own and its keeper's
        queue(1, first=1)
        wait_until(lambda: FinishedJob.objects.count() == 2, seconds=60)
        worker.send(signal.SIGTERM)
        assert worker.wait() == 0


def test_workers_share_the_work_and_nothing_is_done_twice(start: Start) -> None:
    queue(400)
    with (
        start("run_worker", "--once", "--batch", "5") as one,
        start("run_worker", "--once", "--batch", "5") as two,
    ):
        assert (one.wait(), two.wait()) == (0, 0)
    assert_each_done_once(400)


def test_a_worker_with_an_unknown_kind_says_which_there_are(start: Start) -> None:
    with start("run_worker", "--kinds", "nonsense") as worker:
        assert worker.wait() == 2
        assert "choose from" in worker.output
        assert "note" in worker.output
