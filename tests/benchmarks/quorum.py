"""The gate under quorum, with two standbys on this machine, against `pgbench` writing single rows under the same quorum.

Both work on the primary of one rig (`tests.quorum.rig`): three copies of the benchmark's server, made after everybody was seated.
Every acknowledgement has its row on the primary afterwards.
"""

import contextlib
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from django.db import connection

from config.postgres.node import Node
from config.postgres.place import DATABASE, SUPERUSER
from tests.benchmarks.gate import REFERENCE_TABLES, SECONDS, list_variables, read_statement
from tests.benchmarks.hall import Hall
from tests.benchmarks.harness import BenchDatabase, paired, run
from tests.benchmarks.pgbench import run_pgbench
from tests.benchmarks.results import Row
from tests.benchmarks.surroundings import MOST_CONNECTIONS
from tests.quorum.rig import Rig, make_template
from tests.serving import WebServer, serving
from tests.wrk import run_wrk

CLIENTS = (64, 256)
ROUNDS = 3
MOST_PER_SECOND = 10_000  # hand-ins made ready for each second; a faster gate ends its run with an error


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Seat everybody, copy the server three times, compare the two in turns."""
    with tempfile.TemporaryDirectory(prefix="handover-bench-") as folder:
        hall = Hall(Path(folder))
        count = MOST_PER_SECOND * SECONDS
        files = {clients: [hall.write_requests(count) for _ in range(ROUNDS)] for clients in CLIENTS}
        with connection.cursor() as cursor:
            cursor.execute(REFERENCE_TABLES)
        database.vacuum()
        database.checkpoint()
        template = make_template(database.cluster, DATABASE, Path(folder) / "template")
        with rigged(template) as rig, serving(rig.environment, workers=None) as gate:
            for clients in CLIENTS:
                yield paired(
                    f"durable acks/s, quorum with two standbys, {clients} connections : pgbench, one row",
                    partial(acknowledge, rig, gate, files[clients], clients),
                    partial(write, rig, hall, clients),
                    reach=0.5,
                    repeats=ROUNDS,
                )


@contextlib.contextmanager
def rigged(template: Node) -> Iterator[Rig]:
    """Run a rig with room for all of pgbench's connections."""
    rig = Rig(template, DATABASE)
    try:
        for node in rig.trio:
            node.options["max_connections"] = str(MOST_CONNECTIONS)
        rig.start()
        yield rig
    finally:
        rig.close()


def acknowledge(rig: Rig, gate: WebServer, files: list[Path], clients: int) -> float:
    """Return the acknowledgements a second."""
    stored = count_stored(rig)
    rig.run("a", "CHECKPOINT")
    run_ = run_wrk(gate.port, files.pop(), connections=clients, seconds=SECONDS)
    assert count_stored(rig) - stored == run_.acknowledged, "Acknowledged without a row."
    return run_.rate


def write(rig: Rig, hall: Hall, clients: int) -> float:
    """Return the single-row inserts a second."""
    primary = rig.node("a")
    rig.run("a", "CHECKPOINT")
    return run_pgbench(
        BenchDatabase(primary, primary.url(SUPERUSER, DATABASE)),
        read_statement("insert_submission"),
        clients=clients,
        seconds=SECONDS,
        variables=list_variables(hall),
    ).tps


def count_stored(rig: Rig) -> int:
    """Return how many submissions the primary has."""
    [[count]] = rig.run("a", "SELECT count(*) FROM exams_submission")
    return int(str(count))


if __name__ == "__main__":
    run("quorum", measure)
