"""How a figure is made: ours and a reference in turns, on the same machine in the same minute; the median round counts.

A benchmark module is a function that gives rows, and `run("name", function)` under `if __name__ == "__main__"`.
"""

import contextlib
import dataclasses
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

import psycopg
from django.core.management import call_command
from django.db import connections
from rich.console import Console

from config.postgres import Cluster
from config.postgres.place import DATABASE, SUPERUSER
from tests.benchmarks.results import Row, merge_rows, print_rows
from tests.benchmarks.surroundings import get_results_folder, own_server

Measurement = Callable[[], float]
Pair = tuple[float, float]  # (ours, reference)
_progress = Console(stderr=True, highlight=False)


@dataclasses.dataclass(frozen=True, slots=True)
class BenchDatabase:
    """A migrated, empty database on a server of the benchmark's own; Django's `default` connection leads to it."""

    cluster: Cluster
    url: str

    def vacuum(self, *tables: str) -> None:
        """Vacuum and analyze, so that no round pays for the rows of another (all tables when none is named)."""
        with connections["default"].cursor() as cursor:
            for table in tables or ("",):
                cursor.execute(f"VACUUM (ANALYZE) {table}")

    def checkpoint(self) -> None:
        """Write everything out, so that no round pays for the writing of another."""
        with connections["default"].cursor() as cursor:
            cursor.execute("CHECKPOINT")


@contextlib.contextmanager
def bench_database() -> Iterator[BenchDatabase]:
    """Start the server, make and migrate the database; all gone afterwards. Once per process."""
    with own_server() as cluster:
        with psycopg.connect(cluster.url(SUPERUSER, "postgres"), autocommit=True) as admin:
            admin.execute(f'CREATE DATABASE "{DATABASE}"')
        call_command("migrate", verbosity=0)
        try:
            yield BenchDatabase(cluster, cluster.url(SUPERUSER))
        finally:
            connections.close_all()


def paired(
    figure: str,
    ours: Measurement,
    reference: Measurement,
    *,
    reach: float,
    at_most: bool = False,
    repeats: int = 3,
) -> Row:
    """Measure both in turns and return the round with the median ratio, ours to reference.

    Both return the same unit: rates where more is better (`reach` is the least ratio), or with `at_most` durations or sizes
    where less is better (`reach` is the greatest).
    """
    rounds = []
    for number in range(1, repeats + 1):
        one = (ours(), reference())
        _progress.print(f"{figure}, round {number}: {one[0]:,.4g} to {one[1]:,.4g}", style="dim")
        rounds.append(one)
    return Row.of(figure, *pick_median_round(rounds), reach=reach, at_most=at_most)


def in_turns(ours: Measurement, references: Mapping[str, Measurement], *, rounds: int) -> dict[str, Pair]:
    """Measure ours and then each reference, so many rounds; return for each of them the median round's (ours, reference)."""
    measured: dict[str, list[Pair]] = {name: [] for name in references}
    for number in range(1, rounds + 1):
        mine = ours()
        for name, reference in references.items():
            measured[name].append((mine, reference()))
        latest = ", ".join(f"{name} {pairs[-1][1]:,.4g}" for name, pairs in measured.items())
        _progress.print(f"round {number}: {mine:,.4g}; {latest}", style="dim")
    return {name: pick_median_round(pairs) for name, pairs in measured.items()}


def pick_median_round(rounds: list[Pair]) -> Pair:
    """Return the (ours, reference) whose ratio is the median; of an even number of rounds the lower of the middle two."""
    ranked = sorted(rounds, key=lambda one: one[0] / one[1])
    return ranked[(len(ranked) - 1) // 2]


def timed(work: Callable[[], object]) -> float:
    """Return how many seconds the work took."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def report(rows: Iterable[Row], name: str) -> int:
    """Print the table, merge the rows into `bench.json`, and return the exit code: 1 when a reach was missed."""
    rows = list(rows)
    merge_rows(get_results_folder() / "bench.json", rows)
    print_rows(rows, title=f"Benchmark: {name}")
    return 0 if all(row.ok for row in rows) else 1


def run(name: str, measure: Callable[[BenchDatabase], Iterable[Row]]) -> None:
    """Run one benchmark in a database of its own, report it and exit."""
    with bench_database() as database:
        rows = list(measure(database))
    sys.exit(report(rows, name))
