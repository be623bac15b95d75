"""The worker's turn: a batch from claim to end, and what becomes of it when the turn is broken off."""

import datetime as dt
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection

from outbox.loop import run_loop
from outbox.models import FinishedJob, Job, JobState, RetryBudget
from outbox.processes import Heart
from outbox.queue.handlers import ClaimedJob, Done, Outcome, Transient
from outbox.queue.keeper import Keeper
from outbox.queue.settle import Settled
from outbox.queue.sweeper import take_back_expired
from outbox.queue.worker import Worker
from outbox.stopping import Stop
from tests.outbox.queue.workshop import (
    KIND,
    LEASE,
    Workshop,
    arrival,
    make_claimer,
    queue,
    read_notes,
    registered,
)
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
QUICK = (0.001, 0.002)


@contextmanager
def employed(workshop: Workshop, *, batch: int = 50, lease: dt.timedelta = LEASE) -> Iterator[Worker]:
    """Give a worker that does this kind of work, with a running keeper."""
    with registered(workshop), Stop() as stop, Keeper(Heart("worker"), lease) as keeper:
        yield Worker(make_claimer(batch=batch), keeper, stop)


def cut_connection() -> None:
    """Cut our connection as a restarting server does: from another one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (backend,) = cursor.fetchone()
    with connection.copy().cursor() as admin:
        admin.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
        admin.db.close()


def once(deed: Callable[[], None]) -> Callable[[ClaimedJob], Outcome]:
    """Return a fate that does the deed in front of the first job it meets, and nothing after that."""
    deeds = [deed]

    def fate(job: ClaimedJob) -> Outcome:
        if deeds:
            deeds.pop()()
        return Done(job)

    return fate


def test_a_step_does_one_batch_and_says_whether_there_was_one() -> None:
    queue(5)
    with employed(Workshop(), batch=3) as worker:
        assert [worker.step() for _ in range(3)] == [True, True, False]
        assert worker.ended == {Settled.FINISHED: 5}
        assert worker.describe() == "5 finished"
    assert len(read_notes()) == 5


def test_the_claim_names_the_worker_that_shows_life() -> None:
    queue(1)
    holders: list[uuid.UUID | None] = []
    look = once(lambda: holders.append(Job.objects.get().leased_by))
    with employed(Workshop(fate=look)) as worker:
        worker.step()
        assert holders == [worker.keeper.worker]


def test_a_batch_claimed_while_being_told_to_stop_is_given_back_unstarted() -> None:
    queue(3)
    workshop = Workshop()
    with employed(workshop) as worker:
        worker.stop.set()
        worker.step()
        assert worker.ended == {Settled.RELEASED: 3}
    assert workshop.calls == []
    assert set(Job.objects.values_list("state", "tries", "lost_leases")) == {(JobState.READY, 0, 0)}


def test_being_told_to_stop_in_the_middle_finishes_the_batch_and_takes_no_other() -> None:
    queue(4)
    workshop = Workshop()
    with employed(workshop, batch=2) as worker:
        workshop.fate = once(worker.stop.set)
        run_loop(worker.step, worker.stop, rest=QUICK)
        assert worker.ended == {Settled.FINISHED: 2}
    assert Job.objects.filter(state=JobState.READY, tries=0).count() == 2


def test_until_idle_ends_the_loop_when_nothing_is_due() -> None:
    queue(5)
    with employed(Workshop(), batch=2) as worker:
        run_loop(worker.step_until_idle, worker.stop, rest=QUICK)
        assert worker.ended == {Settled.FINISHED: 5}


def test_a_batch_that_was_lost_while_it_was_prepared_is_not_settled() -> None:
    queue(2)
    workshop = Workshop()
    with employed(workshop, lease=dt.timedelta(seconds=0.6)) as worker:

        def lose_the_batch() -> None:
            Job.objects.update(lease_id=uuid.uuid4())
            hold = worker.keeper._hold
            wait_until(lambda: hold and hold.lost)

        workshop.fate = once(lose_the_batch)
        workshop.on_write = lambda _: pytest.fail("nothing may be written for a batch that is lost")
        worker.step()
        assert worker.ended == {Settled.LOST: 2}
    assert set(Job.objects.values_list("state", flat=True)) == {JobState.RUNNING}


def test_after_a_lost_connection_the_batch_is_let_go_and_done_again_apart() -> None:
    """A database restart in the middle of a batch: nobody knows how far it came, so each job is done again, with few others, once."""
    queue(3)
    workshop = Workshop(fate=once(cut_connection))
    with employed(workshop) as worker:
        with pytest.raises(OperationalError):
            worker.step()
        connection.close()
        assert worker.step() is False  # lets go, and finds nothing: the sweeper has not been here
        assert take_back_expired() == 3
        run_loop(worker.step_until_idle, worker.stop, rest=QUICK)
        assert worker.ended == {Settled.FINISHED: 3}
    assert [len(call) for call in workshop.calls] == [3, 3]
    assert sorted(read_notes().values()) == [1, 1, 1]


def test_the_loop_survives_a_lost_connection() -> None:
    """O10, for polling: nothing to subscribe to again; the next turn has a new connection."""
    queue(2)
    with employed(Workshop(fate=once(cut_connection))) as worker:

        def step() -> bool:
            more = worker.step()
            take_back_expired()
            if FinishedJob.objects.count() == 2:
                worker.stop.set()
            return more

        run_loop(step, worker.stop, rest=QUICK)
    assert sorted(read_notes().values()) == [1, 1]


def test_a_commit_whose_answer_was_lost_is_not_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    queue(1)

    def lose_the_answer(place: str) -> None:
        if place == "after_commit":
            raise OperationalError("the connection was lost")

    monkeypatch.setattr("outbox.queue.worker.fault_point", lose_the_answer)
    with employed(Workshop()) as worker:
        with pytest.raises(OperationalError):
            worker.step()
        assert worker.step() is False
        assert take_back_expired() == 0
    assert list(read_notes().values()) == [1]
    assert FinishedJob.objects.count() == 1


def test_retries_without_budget_are_put_off_and_first_tries_go_on() -> None:
    queue(3)
    Job.objects.filter(subject_id=uuid.UUID(int=1)).update(tries=1)
    RetryBudget.objects.create(kind=KIND, tokens=0)
    with employed(Workshop()) as worker:
        worker.step()
        assert worker.ended == {Settled.FINISHED: 2, Settled.SNOOZED: 1}
    row = Job.objects.get()
    assert (row.state, row.tries, row.snoozes, row.lost_leases) == (JobState.READY, 1, 1, 0)


def test_retries_within_budget_go_on_with_the_first_tries() -> None:
    queue(3)
    Job.objects.filter(subject_id=uuid.UUID(int=1)).update(tries=1)
    with employed(Workshop()) as worker:
        worker.step()
        assert worker.ended == {Settled.FINISHED: 3}


def test_in_an_outage_no_more_is_retried_than_the_budget_allows() -> None:
    """Everything fails for a while: 200 first tries pay for 20 retries, 10 come from the floor, and a few with time."""
    queue(200)
    workshop = Workshop(fate=lambda job: Transient(job, TimeoutError()))
    with employed(workshop) as worker:
        for _ in range(20):
            Job.objects.filter(state=JobState.READY).update(run_at=arrival(0))
            worker.step()
    retries = sum(len(call) for call in workshop.calls) - 200
    assert 20 <= retries <= 35
