"""The sweeper: what has to happen although nobody is there to do it.

It takes jobs back from workers that died or froze, and runs the sweeps other apps register (attempts past their deadline,
submissions without a job). Each sweep has a thread and a pace of its own, so that one that is slow, waits for a lock or fails keeps
no other from its turn. Each works in small transactions and may be run by several sweepers at once.
"""

import dataclasses
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from uuid import UUID

from django.db import connection

from outbox.db import fetch_row, load_sql
from outbox.loop import run_apart, run_loop
from outbox.processes import Heart
from outbox.queue.keeper import SIGN_OF_LIFE
from outbox.queue.retention import delete_old_finished_jobs, delete_old_tallies
from outbox.queue.retry import LOSSES
from outbox.queue.settle import raise_if_disconnected
from outbox.queue.tallies import Teller
from outbox.stopping import Stop

logger = logging.getLogger(__name__)

AT_ONCE = 500  # rows a statement takes, so that a sweep never holds locks for long
SECONDS_BETWEEN_LOOKS = 0.5
JITTER = 0.2
HEARTBEATS_KEPT = 3600.0  # seconds


@dataclasses.dataclass(frozen=True, slots=True)
class Sweep:
    """Something to be done again and again: `run` does what there is to do and returns how many things it did.

    It opens its own transactions, takes rows with SKIP LOCKED, and survives a bad row.
    """

    name: str
    run: Callable[[], int]
    seconds: float = 5.0


_registered: dict[str, Sweep] = {}


def register_sweep(sweep: Sweep) -> None:
    """Have sweepers of this process run it. Called in `AppConfig.ready`; the same name twice is a defect."""
    if _registered.setdefault(sweep.name, sweep) is not sweep:
        raise ValueError(f"Two sweeps are called {sweep.name!r}.")


class Sweeper:
    """One sweeper process."""

    def __init__(self) -> None:
        self._silent_before: set[UUID] = set()

    def list_sweeps(self) -> list[Sweep]:
        """Return all sweeps, ours first: others may wait for what ours give back."""
        return [
            Sweep("expired leases", take_back_expired),
            Sweep("jobs of dead workers", self.take_back_from_dead_workers, SECONDS_BETWEEN_LOOKS),
            *_registered.values(),
            Sweep("stale heartbeats", delete_stale_heartbeats, 60.0),
            Sweep("old finished jobs", delete_old_finished_jobs, 60.0),
            Sweep("old tallies", delete_old_tallies, 3600.0),
        ]

    def run(self, stop: Stop) -> None:
        """Run every sweep again and again until told to stop. If one cannot go on (no database, say), all stop and its error is raised."""
        heart = Heart("sweeper")
        sweeps = [*self.list_sweeps(), Sweep("own heartbeat", partial(_beat, heart), 1.0)]
        run_apart([(sweep.name, partial(_repeat, sweep, stop)) for sweep in sweeps], stop)
        heart.stop()

    def run_once(self) -> dict[str, int | None]:
        """Run every sweep once and return what each did; None where it failed. A dead worker is looked at twice."""
        self._silent_before = set(list_silent_workers())
        if self._silent_before:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return {sweep.name: run_sweep(sweep) for sweep in self.list_sweeps()}

    def take_back_from_dead_workers(self) -> int:
        """Take jobs back from workers found silent twice in a row: one that is just reconnecting gets a moment."""
        silent = set(list_silent_workers())
        dead, self._silent_before = silent & self._silent_before, silent
        return take_back_lost(sorted(dead)) if dead else 0


def _beat(heart: Heart) -> int:
    heart.beat()
    return 0


def _repeat(sweep: Sweep, stop: Stop) -> None:
    """Be the thread of one sweep: run it at its pace, with jitter."""

    def step() -> bool:
        run_sweep(sweep)
        return False

    run_loop(step, stop, rest=(sweep.seconds * (1 - JITTER), sweep.seconds * (1 + JITTER)))


def run_sweep(sweep: Sweep) -> int | None:
    """Run one sweep and return how many things it did, or None if it failed. Only a lost connection is raised."""
    try:
        done = sweep.run()
    except Exception as error:
        raise_if_disconnected(error)
        logger.exception("The sweep of %s failed and is tried again at its next turn.", sweep.name)
        return None
    if done:
        logger.info("Swept %s: %d", sweep.name, done)
    return done


def list_silent_workers() -> list[UUID]:
    """Return the workers that hold jobs but show no sign of life at this moment."""
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "list_silent_workers"), {"namespace": SIGN_OF_LIFE})
        return [worker for (worker,) in cursor.fetchall()]


def take_back_expired() -> int:
    """Take back every job whose lease ran out; return how many."""
    return take_back_lost([])


def take_back_lost(dead_workers: Sequence[UUID]) -> int:
    """Take back jobs with expired leases, and those of these workers; at the third loss, give a job up. Return how many."""
    taken = 0
    while True:
        returned, buried = return_lost_jobs(dead_workers)
        if buried:
            logger.error(
                "%d jobs were given up after losing %d leases: see `dead_letters list`.", buried, LOSSES
            )
        if returned + buried:
            _tell_losses(returned + buried, buried)
        taken += returned + buried
        if returned + buried < AT_ONCE:
            return taken


def _tell_losses(lost_leases: int, buried: int) -> None:
    """Count them, for the figures. Losses are rare, so each call is a teller of its own and tells at once."""
    teller = Teller()
    teller.add(lost_leases=lost_leases, buried=buried)
    teller.tell()


def return_lost_jobs(dead_workers: Sequence[UUID]) -> tuple[int, int]:
    """Take back up to 500 of each sort; return how many jobs are ready again and how many were given up."""
    parameters = {"dead_workers": list(dead_workers), "losses_allowed": LOSSES, "at_most": AT_ONCE}
    with connection.cursor() as cursor:
        returned, buried = fetch_row(cursor, "outbox", "return_lost_jobs", parameters)
    return returned, buried


def delete_stale_heartbeats() -> int:
    """Forget processes silent for an hour; return how many."""
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "delete_stale_heartbeats"), {"seconds": HEARTBEATS_KEPT})
        return int(cursor.rowcount)
