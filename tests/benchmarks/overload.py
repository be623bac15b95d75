"""Too much, two and five times (or as often as asked), for two minutes (`--short`: 10 s): what the gate still does, and how soon it says no to the rest.

The gate with its database has one processor core and the senders the others: on shared cores the senders would take from the
gate the time it needs for work, and the figure would be about them. The unloaded peak is measured in the same set-up, before.
Clients do as they are told: a request that was shed is sent again when its Retry-After is over, before any new one. So many come
however slow the gate is: there are more connections than its line is long.

What a machine can keep of its peak while it says no to the rest is measured too: the gate under no more than it can take, on the core it has,
beside a server that answers what is too much without a look at it (`bare.py`).
"""

import contextlib
import statistics
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from config.serving.corked import write_response
from exams.gate.admission import RETRY_AFTER, Limits
from exams.gate.asgi import list_refusals
from tests.benchmarks.bare import serving_bare
from tests.benchmarks.gate import ACCEPTED, settle
from tests.benchmarks.hall import Hall
from tests.benchmarks.harness import BenchDatabase, run
from tests.benchmarks.results import Row
from tests.load import LoadRun, run_load
from tests.serving import WebServer, serving

SHORT = "--short" in sys.argv
SECONDS = 10.0 if SHORT else 120.0
PEAK_SECONDS = 5.0
PEAK_CONNECTIONS = 256
FACTORS = tuple(int(word) for word in sys.argv[1:] if word.isdigit()) or (2, 5)
CONNECTIONS = Limits().waiting + 2_048
MEAN_WAIT = statistics.mean(RETRY_AFTER)
SERVED, SENDING = 0, 1  # cores
SHED = "503"
SHED_MS = 25.0
MOST_PER_SECOND = 9_000


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Measure the peak, then the overload."""
    with tempfile.TemporaryDirectory(prefix="handover-bench-") as folder, serving(workers=1) as gate:
        hall = Hall(Path(folder))
        assert gate.process is not None
        assert database.cluster.process is not None
        keep_to_core(SERVED, gate.process.pid, database.cluster.process.pid)
        peak = load(database, hall, gate, PEAK_SECONDS, PEAK_SECONDS * MOST_PER_SECOND).rate(ACCEPTED)
        sys.stderr.write(f"  peak {peak:,.0f}/s\n")
        for factor in FACTORS:
            fresh = factor * peak * MEAN_WAIT + 1.2 * peak * SECONDS
            run_ = load(database, hall, gate, SECONDS, fresh, rate=factor * peak)
            yield from judge(factor, peak, run_, load_beside(database, hall, gate, (factor - 1) * peak))


def judge(factor: int, peak: float, run_: LoadRun, beside: float) -> Iterator[Row]:
    """Yield the rows of one overload."""
    assert set(run_.answers) == {str(ACCEPTED), SHED}, f"Not accepted and shed: {run_.answers}."
    goodput = run_.answers[str(ACCEPTED)] / run_.seconds
    offered = sum(run_.answers.values()) / run_.seconds
    sys.stderr.write(f"  {factor}x: {run_}; beside a bare server {beside:,.0f}/s\n")
    name = f"overload {factor}x"
    yield Row.of(f"{name}: offered requests/s : unloaded peak", offered, peak, reach=factor * 0.9)
    yield Row.of(f"{name}: goodput acks/s : unloaded peak", goodput, peak, reach=0.9)
    shed_ms = run_.p99_sent_ms[SHED]
    yield Row.of(f"{name}: goodput acks/s : beside a bare server for the rest", goodput, beside, reach=0.9)
    yield Row.of(f"{name}: p99 of shed answers, ms : 25 ms", shed_ms, SHED_MS, reach=1, at_most=True)


def load(
    database: BenchDatabase,
    hall: Hall,
    gate: WebServer,
    seconds: float,
    requests: float,
    rate: float | None = None,
) -> LoadRun:
    """Send for so long, with so many requests at hand; every acknowledgement has its rows afterwards."""
    file = hall.write_requests(int(requests))
    stored = hall.count_handed_in()
    settle(database)
    connections = CONNECTIONS if rate else PEAK_CONNECTIONS
    done = run_load(
        gate.port,
        file,
        connections=connections,
        seconds=seconds,
        rate=rate,
        again=[SHED],
        is_patient=True,
        core=SENDING,
    )
    assert hall.count_handed_in() - stored == done.answers[str(ACCEPTED)], "Acknowledged without a row."
    return done


def load_beside(database: BenchDatabase, hall: Hall, gate: WebServer, rate: float) -> float:
    """Return the acknowledgements a second while a bare server on the gate's core answers so many requests a second."""
    file = hall.write_requests(int(PEAK_SECONDS * MOST_PER_SECOND))
    stored = hall.count_handed_in()
    settle(database)
    refusal = write_response(list_refusals()[0], [])
    with serving_bare(refusal) as (bare, port), ThreadPoolExecutor() as both:
        keep_to_core(SERVED, bare.pid)
        rest = both.submit(
            run_load,
            port,
            file,
            connections=CONNECTIONS - Limits().waiting,
            seconds=PEAK_SECONDS + 1,
            rate=rate,
            again=[SHED],
            core=SENDING,
        )
        done = run_load(gate.port, file, connections=PEAK_CONNECTIONS, seconds=PEAK_SECONDS, core=SENDING)
        sys.stderr.write(f"  bare server: {rest.result()}\n")
    assert hall.count_handed_in() - stored == done.answers[str(ACCEPTED)], "Acknowledged without a row."
    return done.rate(ACCEPTED)


def keep_to_core(core: int, *pids: int) -> None:
    """Bind processes, with all they have started, to a core; what they start later inherits it."""
    for pid in pids:
        process = psutil.Process(pid)
        for each in (process, *process.children(recursive=True)):
            for thread in each.threads():
                with contextlib.suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                    psutil.Process(thread.id).cpu_affinity([core])


if __name__ == "__main__":
    run("overload", measure)
