"""The gate as a deadline loads it: 64 and 256 connections against `pgbench`, and 20,000 students within ten seconds.

The students of the burst are the rehearsal's (`config.rehearsal`): each at their moment on the curve that peaks at the deadline,
trying again when they are shed, and each of their receipts is looked up afterwards.
"""

import json
import random
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
from django.db import connection

from config.rehearsal.arrivals import draw_arrivals
from config.rehearsal.behaviour import Manner, Outcome, Student
from config.rehearsal.crew import Crew
from config.rehearsal.wire import Address
from exams.models import Submission
from tests.benchmarks.gate import (
    REFERENCE_TABLES,
    SECONDS,
    acknowledge,
    list_variables,
    read_statement,
    settle,
)
from tests.benchmarks.hall import Hall
from tests.benchmarks.harness import BenchDatabase, paired, run
from tests.benchmarks.pgbench import run_pgbench
from tests.benchmarks.results import Row
from tests.serving import WebServer, serving

CLIENTS = (64, 256)
STUDENTS, WINDOW = 20_000, 10.0
CONNECTIONS = 2_048
SECONDS_TO_ALL = 60.0  # within which everybody must hold a receipt
MEBIBYTE = 1 << 20


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Measure the rates, then the burst."""
    with tempfile.TemporaryDirectory(prefix="handover-bench-") as folder, serving(workers=None) as gate:
        hall = Hall(Path(folder))
        with connection.cursor() as cursor:
            cursor.execute(REFERENCE_TABLES)
        for clients in CLIENTS:
            yield paired(
                f"durable acks/s, local, {clients} connections : pgbench, one row",
                partial(acknowledge, database, hall, gate, connections=clients),
                partial(write, database, hall, clients),
                reach=0.7,
            )
        yield from measure_burst(database, hall, gate)


def write(database: BenchDatabase, hall: Hall, clients: int) -> float:
    """Return the single-row inserts a second."""
    database.checkpoint()
    script = read_statement("insert_submission")
    return run_pgbench(database, script, clients=clients, seconds=SECONDS, variables=list_variables(hall)).tps


def measure_burst(database: BenchDatabase, hall: Hall, gate: WebServer) -> Iterator[Row]:
    """Let everybody hand in, and hold their receipts against the table."""
    students = list(seat(hall))
    settle(database)
    at_rest = measure_memory(gate)
    outcomes, peak = send(students, gate)
    held = {
        one.attempt_id: {json.loads(text)["id"] for text in one.receipts} for one in outcomes if one.receipts
    }
    rows = Submission.objects.filter(attempt_id__in=[student.attempt_id for student in students])
    stored = [(str(attempt), str(pk)) for attempt, pk in rows.values_list("attempt_id", "id")]
    kept = sum({pk} == held.get(attempt) for attempt, pk in stored)
    last = max(one.acknowledged_at or SECONDS_TO_ALL * 2 for one in outcomes)
    name = f"burst of {STUDENTS:,} students in {WINDOW:g} s:"
    yield Row.of(f"{name} acknowledged : students", len(held), len(students), reach=1)
    yield Row.of(
        f"{name} receipts with their one submission : receipts (none lost)", kept, len(held), reach=1
    )
    yield Row.of(
        f"{name} submissions : attempts with one (none twice)",
        len(stored),
        len({attempt for attempt, _ in stored}),
        reach=1,
        at_most=True,
    )
    yield Row.of(
        f"{name} seconds to the last receipt : window",
        last,
        WINDOW,
        reach=SECONDS_TO_ALL / WINDOW,
        at_most=True,
    )
    yield Row.of(f"{name} peak MiB of the gate : at rest", peak, at_rest, reach=3, at_most=True)


def seat(hall: Hall) -> Iterator[Student]:
    """Seat everybody, each with a moment."""
    body = json.dumps({"answers": hall.answers}).encode()
    moments = draw_arrivals(STUDENTS, WINDOW, random.Random(20261129))
    for sitting, moment in zip(hall.seat(STUDENTS), moments, strict=True):
        yield Student(str(sitting.attempt_id), sitting.token, body, moment, Manner.PLAIN)


def send(students: list[Student], gate: WebServer) -> tuple[list[Outcome], float]:
    """Send, and return what became of everybody, and the most memory the gate took."""
    crew = Crew(
        Address.parse(f"http://127.0.0.1:{gate.port}"),
        students,
        start_at=time.monotonic() + 4,
        patience=2 * SECONDS_TO_ALL,
        processes=2,
        connections=CONNECTIONS,
    )
    peak = 0.0
    with crew.sending():
        while (outcomes := crew.find_outcomes()) is None:
            peak = max(peak, measure_memory(gate))
    return outcomes, peak


def measure_memory(gate: WebServer) -> float:
    """Return the resident MiB of the gate's processes together."""
    assert gate.process is not None
    master = psutil.Process(gate.process.pid)
    return sum(process.memory_info().rss for process in (master, *master.children())) / MEBIBYTE


if __name__ == "__main__":
    run("burst", measure)
