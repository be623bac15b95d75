"""The worker: take a batch, do it, settle it, go on; nothing to take, then rest.

What a job is comes from its handler (`outbox.queue.handlers`); how it is taken and ended is in `outbox.queue.claim` and `outbox.queue.settle`.
No row is locked while a handler works: what keeps two workers from one job is its lease, and what keeps a late one from
writing is the fence in the settling transaction.
"""

import dataclasses
import faulthandler
import logging
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from outbox.faults import fault_point
from outbox.queue.claim import Claim, Claimer
from outbox.queue.handlers import get_handler
from outbox.queue.keeper import Keeper
from outbox.queue.retry import SNOOZE, Budget, count_ended_tries
from outbox.queue.settle import Settled, expire, prepare, release, settle, snooze
from outbox.queue.tallies import Teller
from outbox.stopping import Stop

logger = logging.getLogger(__name__)

SECONDS_FOR_A_BATCH = 300.0
STDERR = 2  # the descriptor: whatever Python calls standard error may be closed by then


@dataclasses.dataclass(slots=True)
class Worker:
    """One worker process. `step()` is one turn of its loop (`outbox.loop.run_loop`); `ended` counts how tries ended."""

    claimer: Claimer
    keeper: Keeper
    stop: Stop
    batch_seconds: float = SECONDS_FOR_A_BATCH
    ended: Counter[Settled] = dataclasses.field(default_factory=Counter)
    teller: Teller = dataclasses.field(default_factory=Teller)
    _budgets: dict[str, Budget] = dataclasses.field(default_factory=dict)
    _in_hand: Claim | None = None

    def step(self) -> bool:
        """Do one batch; return whether there was one. A step that was broken off by a lost connection may simply be run again."""
        self._let_go()
        self.teller.tell_if_due()
        claim = self._claim()
        if claim is None:
            return False
        self._in_hand = claim
        fault_point("after_claim")
        ended = self._work(claim)
        self._in_hand = None
        self.ended += ended
        self.teller.add(**{str(how): count for how, count in ended.items()})
        return True

    def step_until_idle(self) -> bool:
        """Do one batch; when there is none to come either, ask the loop to end."""
        worked = self.step()
        if not worked and not self.claimer.held_back:
            self.stop.set()
        return worked

    def describe(self) -> str:
        """Return a sentence on what became of the jobs this worker took."""
        return ", ".join(f"{count} {how}" for how, count in self.ended.items()) or "no jobs"

    def _claim(self) -> Claim | None:
        begun = time.perf_counter()
        claim = self.claimer.claim(by=self.keeper.worker)
        if claim:
            self.teller.time_claim(time.perf_counter() - begun)
        return claim

    def _let_go(self) -> None:
        """Give up what was in hand when the last step was broken off: nobody knows whether it was settled."""
        if self._in_hand:
            expire(self._in_hand)
            self._in_hand = None

    def _work(self, claim: Claim) -> Counter[Settled]:
        if self.stop.is_set:
            return release(claim)
        claim, snoozed = self._keep_to_budget(claim)
        return snoozed + (self._do(claim) if claim.jobs else Counter())

    def _keep_to_budget(self, claim: Claim) -> tuple[Claim, Counter[Settled]]:
        """Return the batch without the retries there is no budget for; those are put off."""
        first_tries = [job for job in claim.jobs if count_ended_tries(job) <= 1]
        retries = [job for job in claim.jobs if count_ended_tries(job) > 1]
        budget = self._budgets.setdefault(claim.kind, Budget(claim.kind))
        granted = budget.draw(first_tries=len(first_tries), retries=len(retries))
        self.teller.add(first_tries=len(first_tries), retries=granted)
        too_many = retries[granted:]
        snoozed = snooze(too_many, [random.uniform(*SNOOZE) for _ in too_many])  # noqa: S311 - jitter
        return dataclasses.replace(claim, jobs=(*first_tries, *retries[:granted])), snoozed

    def _do(self, claim: Claim) -> Counter[Settled]:
        handler = get_handler(claim.kind)
        with self.keeper.holding(claim) as hold, end_process_if_stuck(self.batch_seconds):
            outcomes = prepare(handler, claim.jobs)
            fault_point("before_settle")
            if hold.lost:
                return Counter({Settled.LOST: len(claim.jobs)})
            ended = settle(handler, outcomes)
        fault_point("after_commit")
        return ended


@contextmanager
def end_process_if_stuck(seconds: float) -> Iterator[None]:
    """End this process, with a traceback, when the block takes longer: a job that hangs must not hang its worker for ever.

    The watchdog is a C thread, so it also ends a loop that never lets other Python threads run (a regular expression, say).
    The supervisor starts a new worker, and the jobs have lost a lease.
    """
    faulthandler.dump_traceback_later(seconds, exit=True, file=STDERR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
