"""The sweeper: jobs come back from holders that are gone, whoever is gone and however."""

import datetime as dt
import logging
import threading
import uuid
from itertools import count

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection
from django.db.models.functions import Now

from outbox.models import DeadLetter, Heartbeat, Job, JobState
from outbox.models.jobs import Cause
from outbox.queue import sweeper as sweeping
from outbox.queue.handlers import ClaimedJob, Outcome
from outbox.queue.keeper import SIGN_OF_LIFE, show_life
from outbox.queue.sweeper import Sweep, Sweeper, register_sweep, take_back_expired
from outbox.stopping import Stop
from tests.outbox.queue.sweeping import sweeping_on
from tests.outbox.queue.workshop import (
    Workshop,
    claim_batch,
    make_claimer,
    number_of,
    numbers_of,
    queue,
    read_notes,
    read_row,
    work_on,
)
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
DEAD = uuid.UUID(int=66)


def stumble(job: ClaimedJob) -> Outcome:
    raise ValueError(job.job_id)


def let_leases_run_out() -> None:
    Job.objects.filter(state=JobState.RUNNING).update(leased_until=Now() - dt.timedelta(seconds=1))


@pytest.fixture(autouse=True)
def no_sweeps_of_real_apps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "_registered", {})


@pytest.fixture
def living() -> uuid.UUID:
    """A worker of this test alone: its sign of life may outlive the test on our connection."""
    return uuid.uuid4()


@pytest.fixture
def sweep_of_another_app() -> list[str]:
    """Register a sweep that notes when it ran."""
    ran: list[str] = []

    def run() -> int:
        ran.append("ran")
        return 3

    register_sweep(Sweep("another app's", run))
    return ran


@pytest.fixture
def failing_sweep() -> None:
    """Register a sweep that meets a bad row each time."""

    def run() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")
        return 0

    register_sweep(Sweep("a failing one", run))


def test_a_job_with_an_expired_lease_is_ready_again_and_the_loss_is_counted_apart() -> None:
    queue(1)
    claim_batch(by=DEAD)
    let_leases_run_out()
    before = Job.objects.get()
    assert take_back_expired() == 1
    row = Job.objects.get()
    assert (row.state, row.tries, row.lost_leases, row.snoozes) == (JobState.READY, 1, 1, 0)
    assert (row.lease_id, row.leased_until, row.leased_by, row.run_at) == (None, None, None, before.run_at)
    (entry,) = row.history
    assert entry.pop("at")
    assert entry == {"cause": "lost_lease", "try": 1, "worker": str(DEAD)}


def test_a_job_whose_lease_still_runs_is_left_alone() -> None:
    queue(1)
    claim_batch()
    before = read_row(Job)
    assert take_back_expired() == 0
    assert read_row(Job) == before


def test_a_job_is_given_up_at_its_third_lost_lease_with_its_history() -> None:
    queue(1)
    for _ in range(3):
        claim_batch(by=DEAD)
        let_leases_run_out()
        take_back_expired()
    assert not Job.objects.exists()
    letter = DeadLetter.objects.get()
    assert (letter.cause, letter.tries, letter.lost_leases) == (Cause.LOST_LEASES, 3, 3)
    assert [(entry["cause"], entry["try"]) for entry in letter.history] == [
        ("lost_lease", 1),
        ("lost_lease", 2),
        ("lost_lease", 3),
    ]


def test_more_jobs_than_one_statement_takes_all_come_back() -> None:
    queue(sweeping.AT_ONCE + 20)
    claimer = make_claimer()
    while claimer.claim(by=DEAD):
        pass
    let_leases_run_out()
    assert take_back_expired() == sweeping.AT_ONCE + 20
    assert set(Job.objects.values_list("state", "lost_leases")) == {(JobState.READY, 1)}


def test_a_row_that_is_being_settled_is_passed_over(database_url: str) -> None:
    queue(2)
    held = claim_batch().jobs[0]
    let_leases_run_out()
    with psycopg.connect(database_url) as other:
        other.execute("SELECT FROM outbox_job WHERE job_id = %s FOR UPDATE", [held.job_id])
        assert take_back_expired() == 1
    assert Job.objects.get(state=JobState.RUNNING).job_id == held.job_id


def test_jobs_of_a_worker_without_a_sign_of_life_come_back_at_the_second_look(living: uuid.UUID) -> None:
    queue(2)
    claim_batch(batch=1, by=DEAD)
    show_life(living)
    claim_batch(batch=1, by=living)
    sweeper = Sweeper()
    assert [sweeper.take_back_from_dead_workers() for _ in range(3)] == [0, 1, 0]
    assert set(Job.objects.values_list("leased_by", "lost_leases")) == {(None, 1), (living, 0)}


def test_a_worker_that_shows_life_again_in_time_keeps_its_jobs(living: uuid.UUID) -> None:
    queue(1)
    claim_batch(by=living)
    sweeper = Sweeper()
    assert sweeper.take_back_from_dead_workers() == 0
    show_life(living)
    assert sweeper.take_back_from_dead_workers() == 0
    assert Job.objects.get().leased_by == living


def test_a_sign_of_life_ends_with_its_connection(living: uuid.UUID, database_url: str) -> None:
    queue(1)
    claim_batch(by=living)
    with psycopg.connect(database_url, autocommit=True) as keeper:
        keeper.execute("SELECT pg_advisory_lock(%s, hashtext(%s))", [SIGN_OF_LIFE, str(living)])
        assert sweeping.list_silent_workers() == []
    wait_until(lambda: sweeping.list_silent_workers() == [living])


def test_a_worker_that_claims_without_a_sign_of_life_is_judged_by_its_lease_alone() -> None:
    queue(1)
    claim_batch(by=None)
    assert sweeping.list_silent_workers() == []


def test_a_dead_workers_jobs_come_back_although_its_heartbeat_was_forgotten(living: uuid.UUID) -> None:
    """O08: the dead worker's row may be gone before anybody looks for its jobs, and its host name may be back."""
    queue(1)
    Heartbeat.objects.create(incarnation=DEAD, role="worker", pid=1, host="school-1")
    claim_batch(by=DEAD)
    Heartbeat.objects.all().delete()
    Heartbeat.objects.create(incarnation=living, role="worker", pid=1, host="school-1")
    show_life(living)
    sweeper = Sweeper()
    assert [sweeper.take_back_from_dead_workers() for _ in range(2)] == [0, 1]


def test_what_came_back_is_done_once_by_the_next_worker() -> None:
    queue(3)
    old = claim_batch()
    let_leases_run_out()
    take_back_expired()
    claimer = make_claimer()
    batches = [claim for _ in range(4) if (claim := claimer.claim(by=None))]
    assert [numbers_of(claim) for claim in batches] == [[0, 1, 2]]
    for claim in [*batches, old]:
        work_on(Workshop(), claim)
    assert set(read_notes().values()) == {1}
    assert len(read_notes()) == 3


def test_a_failing_sweep_does_not_keep_the_others_from_their_turn(
    failing_sweep: None, sweep_of_another_app: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    queue(1)
    claim_batch()
    let_leases_run_out()
    with caplog.at_level(logging.ERROR), sweeping_on():
        wait_until(
            lambda: Job.objects.get().state == JobState.READY and sweep_of_another_app and caplog.records
        )
    assert {record.getMessage() for record in caplog.records} == {
        "The sweep of a failing one failed and is tried again at its next turn."
    }


def test_a_sweep_that_is_stuck_does_not_keep_the_others_from_their_turn(
    sweep_of_another_app: list[str],
) -> None:
    stuck, go_on = threading.Event(), threading.Event()

    def wait() -> int:
        stuck.set()
        go_on.wait(20)
        return 0

    register_sweep(Sweep("a stuck one", wait))
    with sweeping_on():
        assert stuck.wait(20)
        queue(1)
        claim_batch(by=DEAD)
        wait_until(lambda: Job.objects.get().state == JobState.READY)
        go_on.set()
    assert sweep_of_another_app


def test_a_sweeper_runs_each_sweep_again_and_says_that_it_lives() -> None:
    turns = count()
    register_sweep(Sweep("a quick one", lambda: next(turns), seconds=0.01))
    with sweeping_on():
        wait_until(lambda: next(turns) >= 3)
        wait_until(lambda: Heartbeat.objects.filter(role="sweeper").exists())
    assert not Heartbeat.objects.exists()


def test_a_sweeper_that_cannot_go_on_ends_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost connection is for the loop, which gives up after many; a defect in our own loop must not leave half a sweeper."""

    def break_down(_sweep: Sweep) -> int:
        raise ProgrammingError("no such table")

    monkeypatch.setattr(sweeping, "run_sweep", break_down)
    with Stop() as stop, pytest.raises(ProgrammingError, match="no such table"):
        Sweeper().run(stop)


def test_two_sweeps_may_not_share_a_name(sweep_of_another_app: list[str]) -> None:
    with pytest.raises(ValueError, match="another app's"):
        register_sweep(Sweep("another app's", lambda: 0))


def test_heartbeats_of_processes_long_gone_are_forgotten(living: uuid.UUID) -> None:
    Heartbeat.objects.create(incarnation=living, role="worker", pid=1, host="school-1")
    Heartbeat.objects.create(incarnation=DEAD, role="worker", pid=2, host="school-1")
    Heartbeat.objects.filter(incarnation=DEAD).update(seen_at=Now() - dt.timedelta(hours=2))
    assert sweeping.delete_stale_heartbeats() == 1
    assert Heartbeat.objects.get().incarnation == living


def test_sweep_once_tells_what_it_did(
    sweep_of_another_app: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    queue(2)
    claim_batch(batch=1, by=DEAD)
    claim_batch(batch=1, by=None)
    Job.objects.filter(leased_by=None).update(leased_until=Now() - dt.timedelta(seconds=1))
    call_command("sweep", once=True)
    assert capsys.readouterr().out.splitlines() == [
        "expired leases: 1",
        "jobs of dead workers: 1",
        "another app's: 3",
        "stale heartbeats: 0",
        "old finished jobs: 0",
        "old tallies: 0",
    ]


def test_sweep_once_fails_when_a_sweep_failed(
    failing_sweep: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError, match=r"A sweep failed\."):
        call_command("sweep", once=True)
    assert "a failing one: failed, see the log" in capsys.readouterr().out.splitlines()


def test_taking_back_a_job_whose_letter_is_still_open_updates_the_letter() -> None:
    queue(1)
    work_on(Workshop(fate=stumble), claim_batch())
    queue(1)
    Job.objects.update(lost_leases=2)
    assert [number_of(job.subject_id) for job in claim_batch().jobs] == [0]
    let_leases_run_out()
    take_back_expired()
    assert DeadLetter.objects.get().cause == Cause.LOST_LEASES
