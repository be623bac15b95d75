"""How fast waiting work is done: the same job by our worker and by other queues, and what a graded submission costs the database.

The job is the peers' (payload of 1.5 KB, two reads, two writes). What is drained is a machine: each queue has as many worker processes as
there are cores (Celery's one worker starts that many by itself), and the quickest peer may also go without the second, if that does it good. A
rate is taken from the results' own times, over the last nine tenths, so that no queue pays for the start of its processes.
"""

import contextlib
import dataclasses
import os
from collections.abc import Iterator

from django.db import connection

from tests.benchmarks.harness import BenchDatabase, paired, run
from tests.benchmarks.peers.crew import Crew, Peers, ours
from tests.benchmarks.peers.place import WorkPlace
from tests.benchmarks.results import Row
from tests.benchmarks.worker import GradingRoom
from tests.brokers import Redis
from tests.waiting import wait_until

CORES = os.cpu_count() or 1
GRADED = 4_000
OURS = 60_000
SECONDS_TO_DRAIN = 120.0
SECONDS_BETWEEN_LOOKS = 0.5  # seldom: to look costs the server something
COSTS = """
    SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()),
           (SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal')
"""


def drain(crew: Crew, place: WorkPlace, count: int) -> float:
    """Return how many jobs a second the crew does, out of so many that wait."""
    place.hand_in(count)
    crew.fill()
    with crew.helpers(), contextlib.ExitStack() as shift:
        for _ in range(crew.processes):
            shift.enter_context(crew.working())
        wait_until(
            lambda: place.count_results() >= count, seconds=SECONDS_TO_DRAIN, look=SECONDS_BETWEEN_LOOKS
        )
    assert place.count_done() == count
    return place.measure_rate()


def read_costs() -> tuple[int, int]:
    """Return transactions committed in this database, and fsyncs of the log on this server, so far."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(COSTS)
        transactions, fsyncs = cursor.fetchone()
    return int(transactions), int(fsyncs)


def measure_costs(database: BenchDatabase) -> Iterator[Row]:
    """Grade real submissions with the real worker, and count what the server did meanwhile."""
    room = GradingRoom()
    room.hand_in(GRADED)
    database.vacuum()
    database.checkpoint()
    before = read_costs()
    room.grade(GRADED, batch=50)
    after = read_costs()
    for name, one, other in zip(("transactions", "fsyncs"), before, after, strict=True):
        yield Row.of(f"{name} to graded submissions", other - one, GRADED, reach=0.1, at_most=True)


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Measure costs, then rates: every peer once, to find the best, then ours and the best in turns."""
    yield from measure_costs(database)
    here, there = WorkPlace(database.url), WorkPlace.on(database.cluster)
    with Redis() as redis:
        peers = Peers(there, redis.url, processes=CORES)
        counts = {
            peers.procrastinate(): 1_000,
            peers.procrastinate(10): 2_000,
            peers.pgqueuer(): 4_000,
            peers.pgqueuer(100): 4_000,
            dataclasses.replace(peers.pgqueuer(100), name="pgqueuer (100), alone", processes=1): 4_000,
            peers.django_tasks(): 500,
            peers.celery(): 3_000,
        }
        rates = {crew: drain(crew, there, count) for crew, count in counts.items()}
        best = max(rates, key=rates.__getitem__)
        default = next(iter(counts))
        mine = ours(here, processes=CORES)
        yield paired(
            f"jobs/s drained by a worker a core, to the best of four queues ({best.name})",
            lambda: drain(mine, here, OURS),
            lambda: drain(best, there, counts[best]),
            reach=8,
        )
        yield paired(
            "jobs/s drained by a worker a core, to procrastinate as it comes",
            lambda: drain(mine, here, OURS),
            lambda: drain(default, there, counts[default]),
            reach=25,
        )


if __name__ == "__main__":
    run("drain", measure)
