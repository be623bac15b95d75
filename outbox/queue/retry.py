"""Whether a failed job is tried again, and when: pure decisions, and the budget that keeps retries from feeding an outage.

A job is tried three times. What counts is tries that ended: claims given back unstarted, put off or lost with their worker
are counted apart (`snoozes`, `lost_leases`). All retries of a kind together may be no more than a tenth of its first
tries, plus ten a minute so that a quiet queue still retries; without budget the job is put off, not failed.
"""

import dataclasses
import random
import time
from collections.abc import Callable

from django.db import transaction
from django.db.models.functions import Now

from outbox.db import database_now, is_transient
from outbox.models.jobs import Cause, RetryBudget
from outbox.patience import limit_patience
from outbox.queue.handlers import ClaimedJob

TRIES = 3
LOSSES = 3
BASE_DELAY, LONGEST_DELAY = 1.0, 60.0  # seconds
SNOOZE = (5.0, 15.0)  # seconds, drawn anew each time

TOKENS_PER_FIRST_TRY = 0.1
TOKENS_PER_MINUTE = 10.0
MOST_TOKENS = 100.0  # what a long calm may save up
SECONDS_BETWEEN_DEPOSITS = 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class TryAgain:
    """Give it back, due in `delay` seconds."""

    delay: float


@dataclasses.dataclass(frozen=True, slots=True)
class GiveUp:
    """Move it to the dead letters."""

    cause: Cause


def count_ended_tries(job: ClaimedJob) -> int:
    """Return which try of its own this is: 1 for the first. Tries that ended with their worker are not the job's."""
    return job.tries - job.lost_leases


def may_pass(error: Exception) -> bool:
    """Say whether the error may go away by itself: a database or network fault, not a fault of the job or of our code."""
    return is_transient(error) or isinstance(error, TimeoutError | ConnectionError)


def decide_retry(
    job: ClaimedJob, *, transient: bool, draw: Callable[[], float] = random.random
) -> TryAgain | GiveUp:
    """Decide what becomes of a job whose try failed; `draw` gives a number in [0, 1).

    Exponential backoff with full jitter: a uniform draw below min(cap, base x 2^n) spreads retries better than a jitter
    around a fixed delay (M. Brooker, "Exponential backoff and jitter", AWS Architecture Blog, 2015).
    """
    if not transient:
        return GiveUp(Cause.DEFECT)
    ended = count_ended_tries(job)
    if ended >= TRIES:
        return GiveUp(Cause.EXHAUSTED)
    return TryAgain(draw() * min(LONGEST_DELAY, BASE_DELAY * 2**ended))


def refill(tokens: float, *, first_tries: int, seconds: float) -> float:
    """Return the tokens of a budget after so many first tries and so much time."""
    return min(
        MOST_TOKENS, tokens + TOKENS_PER_FIRST_TRY * first_tries + TOKENS_PER_MINUTE / 60 * max(0.0, seconds)
    )


class Budget:
    """One worker's access to the shared retry budget of a kind. First tries are counted here and paid in once a second."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._first_tries = 0
        self._next_deposit = 0.0

    def draw(self, *, first_tries: int, retries: int) -> int:
        """Count these first tries and return how many of these retries may go ahead."""
        self._first_tries += first_tries
        if not retries and time.monotonic() < self._next_deposit:
            return 0
        granted = draw_tokens(self._kind, first_tries=self._first_tries, wanted=retries)
        self._first_tries = 0
        self._next_deposit = time.monotonic() + SECONDS_BETWEEN_DEPOSITS
        return granted


def draw_tokens(kind: str, *, first_tries: int, wanted: int) -> int:
    """Pay in for the first tries, take a whole token for each retry wanted, as far as they go; return how many.

    Locks the kind's one row for two statements, so callers gather their first tries. The clock is the database's.
    """
    with transaction.atomic(durable=True):
        limit_patience()
        RetryBudget.objects.bulk_create(
            [RetryBudget(kind=kind, tokens=TOKENS_PER_MINUTE)], ignore_conflicts=True
        )
        budget = RetryBudget.objects.select_for_update().get(kind=kind)
        seconds = (database_now() - budget.updated_at).total_seconds()
        tokens = refill(budget.tokens, first_tries=first_tries, seconds=seconds)
        granted = min(wanted, int(tokens))
        RetryBudget.objects.filter(kind=kind).update(tokens=tokens - granted, updated_at=Now())
    return granted
