"""What becomes of the jobs in the hands of a worker that is killed: how soon others do them, how many are lost, how many done twice.

A worker takes jobs that wait at a gate; a second one stands by; then the first is killed (-9, with all its processes) and the gate is
opened. Every queue runs as it comes, with what its manual asks for beside the workers. Jobs that nobody has done after the
patience count as lost, and the time is the patience.
"""

import contextlib
import dataclasses
import time
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg

from tests.benchmarks.harness import BenchDatabase, run
from tests.benchmarks.peers.crew import Crew, Peers, kill_group, ours
from tests.benchmarks.peers.ours.apps import GATE
from tests.benchmarks.peers.place import WorkPlace
from tests.benchmarks.results import Row
from tests.brokers import Redis
from tests.waiting import wait_until

JOBS = 60
PATIENCE = 60.0  # seconds
SECONDS_TO_START = 60.0
SECONDS_FOR_THE_OTHER = 5.0
ROUNDS = 3  # of ours; a peer that never finishes costs its patience


@dataclasses.dataclass(frozen=True, slots=True)
class Rescue:
    """How one kill ended."""

    seconds: float
    lost: int
    doubled: int


def rescue(crew: Crew, place: WorkPlace) -> Rescue:
    """Kill a worker with jobs in its hands, and see."""
    place.hand_in(JOBS)
    crew.fill()
    with ExitStack() as stack:
        gate = stack.enter_context(psycopg.connect(place.url, autocommit=True))
        gate.execute("SELECT pg_advisory_lock(%s)", [GATE])
        stack.enter_context(crew.helpers())
        victim = stack.enter_context(crew.working(gated=True))
        wait_until(lambda: place.count_waiting_at(GATE), seconds=SECONDS_TO_START)
        held = place.count_waiting_at(GATE)
        stack.enter_context(crew.working(gated=True))
        _let_the_other_start(place, held)
        kill_group(victim)
        killed_at = time.perf_counter()
        gate.execute("SELECT pg_advisory_unlock(%s)", [GATE])
        with contextlib.suppress(AssertionError):
            wait_until(lambda: place.count_done() >= JOBS, seconds=PATIENCE)
        return Rescue(time.perf_counter() - killed_at, JOBS - place.count_done(), place.count_doubled())


def _let_the_other_start(place: WorkPlace, held: int) -> None:
    """Wait until the second worker is at the gate too, or is known to find nothing: it takes no longer to start than the first."""
    with contextlib.suppress(AssertionError):
        wait_until(lambda: place.count_waiting_at(GATE) > held, seconds=SECONDS_FOR_THE_OTHER)


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Measure ours three times and take the median; each peer once."""
    here, there = WorkPlace(database.url), WorkPlace.on(database.cluster)
    mine = sorted((rescue(ours(here), here) for _ in range(ROUNDS)), key=lambda each: each.seconds)
    with Redis() as redis:
        peers = Peers(there, redis.url)
        crews = [peers.procrastinate(), peers.pgqueuer(), peers.django_tasks(), peers.celery()]
        others = {crew.name: rescue(crew, there) for crew in crews}
    seconds = mine[len(mine) // 2].seconds
    yield Row.of("seconds until a killed worker's jobs are done, to two", seconds, 2.0, reach=1, at_most=True)
    for name, other in others.items():
        figure = f"seconds until a killed worker's jobs are done, to {name} ({other.lost} lost, {other.doubled} doubled)"
        yield Row.of(figure, seconds, other.seconds, reach=1, at_most=True)
    lost, doubled = sum(each.lost for each in mine), sum(each.doubled for each in mine)
    yield Row.of("jobs of killed workers lost, to all", lost, JOBS * ROUNDS, reach=0, at_most=True)
    yield Row.of("jobs of killed workers done twice, to all", doubled, JOBS * ROUNDS, reach=0, at_most=True)


if __name__ == "__main__":
    run("rescue", measure)
