"""The one loop all long-running processes share: do a step, go on at once while there is more, else rest; survive a lost database.

This is the only place that reconnects. A step must be safe to run again from the start, which it is when all it did was
one transaction: whatever was not committed is not there.
"""

import logging
import random
import threading
from collections.abc import Callable, Iterable

from django.db import DatabaseError, InterfaceError, connection

from outbox.db import is_transient
from outbox.errors import Unavailable
from outbox.stopping import Stop

logger = logging.getLogger(__name__)

REST = (
    0.05,
    0.2,
)  # seconds between two looks at a quiet table, drawn anew each time so that processes do not march in step
FIRST_BACKOFF, LONGEST_BACKOFF = 0.1, 5.0
FAILURES_BEFORE_GIVING_UP = 12  # in a row: about half a minute without a database, then the supervisor's turn


def run_loop(
    step: Callable[[], bool],
    stop: Stop,
    *,
    rest: tuple[float, float] = REST,
    failures_before_giving_up: int = FAILURES_BEFORE_GIVING_UP,
) -> None:
    """Run `step` until told to stop. It returns True when there may be more to do at once, however long the queue is.

    A transient database error (connection lost, server restarting, deadlock) is retried with exponential backoff and full
    jitter; after too many in a row it is raised, so that the process exits and its supervisor starts a new one. What is
    `Unavailable` outside the database is asked again for ever: a new process would not find it sooner.
    """
    failures = absences = 0
    while not stop.is_set:
        try:
            more = step()
        except Unavailable as error:
            absences += 1
            logger.warning("Waiting (%d): %s", absences, error)
            stop.wait(draw_backoff(absences))
            continue
        except (DatabaseError, InterfaceError) as error:
            failures += 1
            if not is_transient(error) or failures >= failures_before_giving_up:
                raise
            logger.warning("Database away (%d): %s", failures, str(error).strip())
            connection.close()
            stop.wait(draw_backoff(failures))
            continue
        failures = absences = 0
        if not more:
            stop.wait(random.uniform(*rest))  # noqa: S311 - jitter, not a secret


def draw_backoff(failures: int) -> float:
    """Return how long to wait after so many failures in a row: full jitter below an exponential bound, in seconds."""
    bound = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** min(failures - 1, 10))
    return random.uniform(0, bound)  # noqa: S311 - jitter, not a secret


def run_apart(works: Iterable[tuple[str, Callable[[], None]]], stop: Stop) -> None:
    """Do each of these in a thread of its own, called by its name, until all have ended.

    One that fails stops the others, and the first failure is raised, so that the supervisor starts a fresh process.
    """
    failures: list[Exception] = []
    threads = [
        threading.Thread(target=_run_one, args=(name, work, stop, failures), name=name)
        for name, work in works
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def _run_one(name: str, work: Callable[[], None], stop: Stop, failures: list[Exception]) -> None:
    try:
        work()
    except Exception as error:
        logger.exception("%s cannot go on.", name)
        failures.append(error)
        stop.set()
    finally:
        connection.close()
