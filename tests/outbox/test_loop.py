"""The loop of every long-running process: when it rests, when it tries again, when it gives up."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError, connection
from psycopg import errors

from outbox.db import is_transient
from outbox.loop import FIRST_BACKOFF, LONGEST_BACKOFF, draw_backoff, run_loop
from outbox.stopping import Stop
from tests.sessions import Sessions, sessions

__all__ = ["sessions"]


class CountedStop(Stop):
    """A stop that notes how long it was asked to sleep, and never does."""

    def __init__(self) -> None:
        super().__init__()
        self.rests: list[float] = []

    def wait(self, seconds: float) -> bool:
        self.rests.append(seconds)
        return self.is_set


@pytest.fixture
def stop() -> Iterator[CountedStop]:
    with CountedStop() as each:
        yield each


def play(stop: Stop, *turns: bool | Exception) -> Callable[[], bool]:
    """Make a step that does these things one after the other, then asks to stop."""
    left = list(turns)

    def step() -> bool:
        turn = left.pop(0)
        if not left:
            stop.set()
        if isinstance(turn, Exception):
            raise turn
        return turn

    return step


def wrap(cause: Exception, wrapper: type[DatabaseError] = OperationalError) -> DatabaseError:
    """Dress a driver's error as Django does."""
    error = wrapper(str(cause))
    error.__cause__ = cause
    return error


def test_loop_goes_on_at_once_while_there_is_more_and_rests_when_there_is_not(stop: CountedStop) -> None:
    run_loop(play(stop, True, True, False, True, False), stop, rest=(1, 2))

    assert len(stop.rests) == 2
    assert all(1 <= rest <= 2 for rest in stop.rests)


@pytest.mark.django_db
def test_loop_tries_again_after_a_transient_error_with_growing_patience(stop: CountedStop) -> None:
    away = [OperationalError("the connection is lost")] * 4

    run_loop(play(stop, *away, True), stop)

    bounds = [min(LONGEST_BACKOFF, FIRST_BACKOFF * 2**failure) for failure in range(4)]
    assert len(stop.rests) == 4
    assert all(0 <= rest <= bound for rest, bound in zip(stop.rests, bounds, strict=True))


@pytest.mark.django_db
def test_loop_gives_up_after_too_many_failures_in_a_row(stop: CountedStop) -> None:
    away = [OperationalError("the connection is lost")] * 3

    with pytest.raises(OperationalError):
        run_loop(play(stop, *away, True), stop, failures_before_giving_up=3)

    assert len(stop.rests) == 2


@pytest.mark.django_db
def test_loop_forgets_old_failures_once_a_step_succeeds(stop: CountedStop) -> None:
    away = OperationalError("the connection is lost")

    run_loop(play(stop, away, away, True, away, away, True), stop, failures_before_giving_up=3)

    assert len(stop.rests) == 4


@pytest.mark.parametrize("error", [IntegrityError("no"), ValueError("no")])
def test_loop_lets_any_other_error_through_at_once(error: Exception, stop: CountedStop) -> None:
    with pytest.raises(type(error)):
        run_loop(play(stop, error, True), stop)


@pytest.mark.django_db(transaction=True)
def test_loop_works_on_with_a_new_connection_after_the_server_ended_the_old_one(
    stop: CountedStop, sessions: Sessions
) -> None:
    killer = sessions.open()
    seen: list[int] = []

    def step() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            seen.append(cursor.fetchone()[0])
            if len(seen) == 1:
                killer.run("SELECT pg_terminate_backend(%s)", seen[0])
                cursor.execute("SELECT 1")
        stop.set()
        return False

    run_loop(step, stop)

    assert len(set(seen)) == 2


def test_backoff_is_never_longer_than_its_bound() -> None:
    assert max(draw_backoff(failures) for failures in range(1, 200)) <= LONGEST_BACKOFF


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (wrap(errors.SerializationFailure("40001")), True),
        (wrap(errors.DeadlockDetected("40P01")), True),
        (wrap(errors.LockNotAvailable("55P03")), True),
        (wrap(errors.AdminShutdown("57P01")), True),
        (wrap(errors.CannotConnectNow("57P03")), True),
        (wrap(errors.QueryCanceled("57014")), True),
        (wrap(errors.TooManyConnections("53300")), True),
        (wrap(errors.DiskFull("53100")), True),
        (wrap(errors.IdleInTransactionSessionTimeout("25P03")), True),
        (wrap(errors.OperationalError("consuming input failed")), True),
        (InterfaceError("connection already closed"), True),
        (wrap(errors.UniqueViolation("23505"), IntegrityError), False),
        (wrap(errors.NumericValueOutOfRange("22003"), DatabaseError), False),
        (wrap(errors.UndefinedTable("42P01"), DatabaseError), False),
        (wrap(errors.ReadOnlySqlTransaction("25006"), DatabaseError), False),
        (DatabaseError("something Django says itself"), False),
        (ValueError("not a database's error"), False),
        (ConnectionError("somebody else's connection"), False),
    ],
)
def test_error_is_transient_only_when_the_same_work_may_succeed_later(error: Any, transient: bool) -> None:
    assert is_transient(error) is transient
