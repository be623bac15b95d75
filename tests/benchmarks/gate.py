"""The gate over HTTP: what it acknowledges, against what PostgreSQL can write at all and what the obvious view would do.

Every round measures all of them one after the other on one server, each from a fresh checkpoint, in tables of the same shape and
with the same indexes. The references of `pgbench` only write: no token, no attempt read, locked and changed, no rule, no signature.
"""

import dataclasses
import json
import sys
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from uuid import uuid4

from django.db import connection

from exams.canonical import canonical_answers, digest
from exams.events import SubmissionAccepted
from tests.benchmarks.hall import Hall
from tests.benchmarks.harness import BenchDatabase, pick_median_round, run
from tests.benchmarks.pgbench import run_pgbench
from tests.benchmarks.results import Row
from tests.load import LoadRun, run_load
from tests.serving import WebServer, serving
from tests.wrk import run_wrk

ROUNDS = 3
SECONDS = 4
CONNECTIONS = 64
MOST_PER_SECOND = 14_000  # requests made ready for each second; a faster gate ends its run with an error
MOST_OF_THE_OBVIOUS = 2_000
ACCEPTED = 202

# Fastest of what was tried for it: 2 processes of 8 threads, connections kept (one process of 16 or 64 threads, or ASGI: less).
OBVIOUS = (
    *("--workers", "2", "--worker-class", "gthread", "--threads", "8", "--keep-alive", "30"),
    *(
        "--bind",
        "127.0.0.1:$PORT",
        "--log-level",
        "warning",
        "--no-control-socket",
        "tests.benchmarks.obvious",
    ),
)
# The ids that a row must have anew are made by `gen_random_uuid`, as everybody makes them (10 us each where this was written, for
# a question to the kernel; with free ids one row a transaction is a third faster). All other ids cost next to nothing.
REFERENCE_TABLES = """
    CREATE FUNCTION reference_uuid(bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
        SELECT ('01a228c1-f802-7150-b378-' || lpad(to_hex($1), 12, '0'))::uuid
    $$;
    CREATE TABLE reference_submission (LIKE exams_submission INCLUDING ALL);
    CREATE TABLE reference_job (LIKE outbox_job INCLUDING ALL);
    CREATE TABLE reference_event (LIKE outbox_event INCLUDING ALL);
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Round:
    """What one round measured: rates a second, and the latencies of the gate at half its rate."""

    gate: float
    one_row: float
    three_rows: float
    obvious: float
    half_rate: LoadRun


class GateBenchmark:
    """The gate, its references and the hall they all write for."""

    def __init__(self, database: BenchDatabase, hall: Hall, gate: WebServer, obvious: WebServer) -> None:
        self._database = database
        self._hall = hall
        self._gate = gate
        self._obvious = obvious
        self._variables = list_variables(hall)
        with connection.cursor() as cursor:
            cursor.execute(REFERENCE_TABLES)

    def measure_round(self) -> Round:
        """Measure everything once."""
        gate = self._load(self._gate, most=MOST_PER_SECOND)
        return Round(
            gate=gate,
            one_row=self._write("insert_submission"),
            three_rows=self._write("insert_submission", "insert_job", "insert_event"),
            obvious=self._load(self._obvious, most=MOST_OF_THE_OBVIOUS),
            half_rate=self._load_on_schedule(gate / 2),
        )

    def _load(self, server: WebServer, *, most: int) -> float:
        """Return the acknowledgements a second of clients that never rest."""
        return acknowledge(self._database, self._hall, server, connections=CONNECTIONS, most=most)

    def _load_on_schedule(self, rate: float) -> LoadRun:
        file = self._hall.write_requests(int(1.2 * rate * SECONDS))
        stored = self._hall.count_handed_in()
        settle(self._database)
        load = run_load(self._gate.port, file, connections=CONNECTIONS, seconds=SECONDS, rate=rate)
        assert self._hall.count_handed_in() - stored == sum(load.answers.values()), (
            "Acknowledged without a row."
        )
        return load

    def _write(self, *statements: str) -> float:
        script = "".join(read_statement(name) for name in statements)
        if len(statements) > 1:
            script = f"BEGIN;\n{script}COMMIT;\n"
        self._database.checkpoint()
        reference = run_pgbench(
            self._database, script, clients=CONNECTIONS, seconds=SECONDS, variables=self._variables
        )
        return reference.tps


def acknowledge(
    database: BenchDatabase, hall: Hall, server: WebServer, *, connections: int, most: int = MOST_PER_SECOND
) -> float:
    """Return the acknowledgements a second; each has its rows afterwards, and nothing but acknowledgements was said."""
    file = hall.write_requests(most * SECONDS)
    stored = hall.count_handed_in()
    settle(database)
    run_ = run_wrk(server.port, file, connections=connections, seconds=SECONDS)
    assert hall.count_handed_in() - stored == run_.acknowledged, "Acknowledged without a row."
    file.unlink()
    return run_.rate


def settle(database: BenchDatabase) -> None:
    """Do what the seating of students left to do, or autovacuum and a checkpoint would do it while somebody measures."""
    database.vacuum("gradebook_user", "exams_attempt")
    database.checkpoint()


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Measure all rounds and give the four figures."""
    with tempfile.TemporaryDirectory(prefix="handover-bench-") as folder:
        hall = Hall(Path(folder))
        with serving(workers=None) as gate, serving(arguments=OBVIOUS) as obvious:
            benchmark = GateBenchmark(database, hall, gate, obvious)
            rounds = []
            for number in range(1, ROUNDS + 1):
                rounds.append(benchmark.measure_round())
                sys.stderr.write(f"  gate, round {number}: {rounds[-1]}\n")
    yield from _rows(rounds)


def _rows(rounds: list[Round]) -> Iterator[Row]:
    def row(figure: str, pairs: list[tuple[float, float]], *, reach: float, at_most: bool = False) -> Row:
        return Row.of(figure, *pick_median_round(pairs), reach=reach, at_most=at_most)

    yield row("gate acks/s : pgbench, one row", [(one.gate, one.one_row) for one in rounds], reach=0.5)
    yield row("gate acks/s : pgbench, three rows", [(one.gate, one.three_rows) for one in rounds], reach=1.5)
    yield row("gate acks/s : obvious DRF view", [(one.gate, one.obvious) for one in rounds], reach=15)
    latencies = [(one.half_rate.p99_ms, one.half_rate.p50_ms) for one in rounds]
    yield row("gate at half rate, ms: p99 : p50", latencies, reach=5, at_most=True)


def list_variables(hall: Hall) -> dict[str, str]:
    """Return what a reference row is filled with: as long as what the gate stores."""
    answers = canonical_answers(hall.answers)
    some_id, moment = uuid4(), "2026-11-29T12:00:00.123456+00:00"
    fact = SubmissionAccepted(
        attempt_id=some_id,
        exam_id=some_id,
        student_id=some_id,
        number=1,
        submission_id=some_id,
        payload_sha256=digest(answers),
        accepted_at=moment,
        deadline=moment,
        decision="on_time",
        origin="student",
    )
    return {
        "id": str(some_id),
        "key": f"{some_id}:{some_id}:1",
        "answers": answers,
        "digest": digest(answers),
        "payload": json.dumps(fact.payload(), default=str),
    }


def read_statement(name: str) -> str:
    return resources.files("tests.benchmarks").joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")


if __name__ == "__main__":
    run("gate", measure)
