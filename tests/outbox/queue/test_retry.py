"""Whether and when a failed job is tried again, and the budget all retries share."""

import datetime as dt
import uuid

import pytest
from django.db import DatabaseError, InterfaceError, OperationalError
from hypothesis import given
from hypothesis import strategies as st
from psycopg import errors

from outbox.models import RetryBudget
from outbox.models.jobs import Cause
from outbox.queue.handlers import ClaimedJob
from outbox.queue.retry import (
    LONGEST_DELAY,
    MOST_TOKENS,
    TOKENS_PER_MINUTE,
    TRIES,
    Budget,
    GiveUp,
    TryAgain,
    count_ended_tries,
    decide_retry,
    draw_tokens,
    may_pass,
    refill,
)

ID = uuid.UUID(int=1)
ALMOST_ONE = 0.999_999


def make_job(*, tries: int = 1, lost_leases: int = 0) -> ClaimedJob:
    return ClaimedJob(
        tenant_id=ID,
        group_id=ID,
        job_id=ID,
        kind="note",
        subject_id=ID,
        lane=0,
        tries=tries,
        snoozes=0,
        lost_leases=lost_leases,
        lease_id=ID,
        created_at=dt.datetime(2026, 6, 1, tzinfo=dt.UTC),
    )


def wrap(cause: errors.Error) -> OperationalError:
    """Return a database error as Django raises it."""
    error = OperationalError(str(cause))
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        wrap(errors.SerializationFailure()),
        wrap(errors.DeadlockDetected()),
        wrap(errors.LockNotAvailable()),
        wrap(errors.QueryCanceled()),
        wrap(errors.TooManyConnections()),
        wrap(errors.AdminShutdown()),
        OperationalError("the connection is closed"),
        InterfaceError("connection already closed"),
        TimeoutError(),
        ConnectionResetError(),
    ],
    ids=lambda error: type(error.__cause__ or error).__name__,
)
def test_errors_of_the_surroundings_may_pass(error: Exception) -> None:
    assert may_pass(error)


@pytest.mark.parametrize(
    "error",
    [
        wrap(errors.UniqueViolation()),
        wrap(errors.UndefinedTable()),
        wrap(errors.NumericValueOutOfRange()),
        DatabaseError(),
        ValueError(),
        MemoryError(),
        RecursionError(),
        KeyError("question"),
    ],
    ids=lambda error: type(error.__cause__ or error).__name__,
)
def test_errors_of_the_work_itself_do_not_pass(error: Exception) -> None:
    assert not may_pass(error)


def test_a_defect_is_given_up_at_once() -> None:
    assert decide_retry(make_job(), transient=False) == GiveUp(Cause.DEFECT)


def test_the_delay_doubles_and_is_drawn_from_nought() -> None:
    highest = [
        decide_retry(make_job(tries=tries), transient=True, draw=lambda: ALMOST_ONE) for tries in (1, 2)
    ]
    assert highest == [TryAgain(ALMOST_ONE * 2), TryAgain(ALMOST_ONE * 4)]
    assert decide_retry(make_job(), transient=True, draw=lambda: 0.0) == TryAgain(0.0)


def test_the_third_failure_is_the_last() -> None:
    assert decide_retry(make_job(tries=TRIES), transient=True) == GiveUp(Cause.EXHAUSTED)


def test_a_try_lost_with_its_worker_is_not_held_against_the_job() -> None:
    job = make_job(tries=4, lost_leases=2)
    assert count_ended_tries(job) == 2
    assert decide_retry(job, transient=True, draw=lambda: 0.5) == TryAgain(2.0)


@given(tries=st.integers(1, 2), luck=st.floats(0, 1, exclude_max=True))
def test_no_delay_is_longer_than_the_longest(tries: int, luck: float) -> None:
    decision = decide_retry(make_job(tries=tries), transient=True, draw=lambda: luck)
    assert isinstance(decision, TryAgain)
    assert 0 <= decision.delay <= LONGEST_DELAY


def test_refill_adds_a_tenth_of_the_first_tries_and_ten_a_minute() -> None:
    assert refill(1.0, first_tries=50, seconds=0) == 6.0
    assert refill(0.0, first_tries=0, seconds=60) == pytest.approx(TOKENS_PER_MINUTE)


def test_refill_saves_up_only_so_much_and_ignores_a_clock_that_ran_back() -> None:
    assert refill(99.0, first_tries=1_000_000, seconds=0) == MOST_TOKENS
    assert refill(5.0, first_tries=0, seconds=-30) == 5.0


@given(
    steps=st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.floats(0, 5)), max_size=60),
    start=st.floats(0, TOKENS_PER_MINUTE),
)
def test_retries_never_exceed_a_tenth_of_first_tries_plus_the_floor(
    steps: list[tuple[int, int, float]], start: float
) -> None:
    """The budget's promise, over any history: what was granted is covered by what came in."""
    tokens, granted = start, 0
    for first_tries, wanted, seconds in steps:
        tokens = refill(tokens, first_tries=first_tries, seconds=seconds)
        taken = min(wanted, int(tokens))
        tokens, granted = tokens - taken, granted + taken
    income = start + sum(0.1 * first + TOKENS_PER_MINUTE / 60 * seconds for first, _, seconds in steps)
    assert granted <= income + 1e-6


@pytest.mark.django_db(transaction=True)
def test_draw_tokens_grants_what_there_is_and_no_more() -> None:
    assert draw_tokens("note", first_tries=100, wanted=15) == 15
    assert draw_tokens("note", first_tries=0, wanted=50) == 5
    assert draw_tokens("note", first_tries=0, wanted=50) == 0
    assert draw_tokens("other", first_tries=0, wanted=3) == 3


@pytest.mark.django_db(transaction=True)
def test_draw_tokens_grants_again_after_a_quiet_minute() -> None:
    draw_tokens("note", first_tries=0, wanted=50)
    budget = RetryBudget.objects.get()
    RetryBudget.objects.update(updated_at=budget.updated_at - dt.timedelta(minutes=1))
    assert draw_tokens("note", first_tries=0, wanted=50) == 10


@pytest.mark.django_db(transaction=True)
def test_a_workers_first_tries_are_paid_in_when_it_wants_a_retry() -> None:
    RetryBudget.objects.create(kind="note", tokens=0)
    budget = Budget("note")
    budget.draw(first_tries=10, retries=0)  # paid in: the first time in this second
    budget.draw(first_tries=10, retries=0)  # kept back
    assert int(RetryBudget.objects.get().tokens) == 1
    assert budget.draw(first_tries=10, retries=5) == 3
