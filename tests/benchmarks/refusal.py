"""What a refusal costs: processor time of the web process for each, while its line is full, against a bare answer of the same length.

The line is full because a lock keeps the gate from its table; so nothing but refusals goes on in the process. The reference does what no
server can do without: uvloop reads the same request and writes the same answer, and nobody looks at either. Nearly all of that is
the kernel's.
"""

import contextlib
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
from django.db import connection, transaction

from exams.gate.admission import Limits
from tests.benchmarks.bare import serving_bare
from tests.benchmarks.hall import Hall
from tests.benchmarks.harness import BenchDatabase, pick_median_round, run
from tests.benchmarks.overload import SENDING, SERVED, keep_to_core
from tests.benchmarks.results import Row
from tests.load import read_requests, run_load
from tests.serving import WebServer, serving

ROUNDS = 3
SECONDS = 2.0
CONNECTIONS = 256
SHED = "503"


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Measure all rounds and give the one figure."""
    with tempfile.TemporaryDirectory(prefix="handover-bench-") as folder:
        hall = Hall(Path(folder))
        with serving(workers=1) as gate:
            rounds = [measure_round(hall, gate) for _ in range(ROUNDS)]
    sys.stderr.write(f"  a refusal, bare answer, microseconds: {rounds}\n")
    yield Row.of("overload: µs a refusal : bare answer", *pick_median_round(rounds), reach=2, at_most=True)


def measure_round(hall: Hall, gate: WebServer) -> tuple[float, float]:
    """Return the microseconds of a refusal and of a bare answer."""
    file = hall.write_requests(Limits().waiting + CONNECTIONS)
    assert gate.process is not None
    (worker,) = psutil.Process(gate.process.pid).children()
    with full_line(gate.port, read_requests(file)) as refusal:
        ours = measure_answer(worker, gate.port, file)
    with serving_bare(refusal) as (bare, port):
        reference = measure_answer(bare, port, file)
    return ours, reference


def measure_answer(server: psutil.Process, port: int, file: Path) -> float:
    """Return the microseconds of processor time the server spends on each of very many answers."""
    keep_to_core(SERVED, server.pid)
    before = sum(server.cpu_times()[:2])
    answers = run_load(
        port, file, connections=CONNECTIONS, seconds=SECONDS, again=[SHED], core=SENDING
    ).answers
    assert set(answers) == {SHED}
    return (sum(server.cpu_times()[:2]) - before) / answers[SHED] * 1e6


@contextlib.contextmanager
def full_line(port: int, requests: Sequence[bytes]) -> Iterator[bytes]:
    """Keep the gate's line full for the length of the block, a few seconds at most; yield the answer to one more."""
    with contextlib.ExitStack() as until_the_end:
        line = [
            until_the_end.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            for _ in range(Limits().waiting + 1)
        ]
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE exams_attempt")
            for each, request in zip(line, requests, strict=False):
                each.sendall(request)
            yield line[-1].recv(65536)
        assert {each.recv(65536)[9:12] for each in line[:-1]} == {b"202"}


if __name__ == "__main__":
    run("refusal", measure)
