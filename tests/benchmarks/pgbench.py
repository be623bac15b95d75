"""`pgbench` from the same wheel as the server: the physical limit our rates are compared with."""

import dataclasses
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from config.postgres.place import SUPERUSER
from tests.benchmarks.harness import BenchDatabase


@dataclasses.dataclass(frozen=True, slots=True)
class PgbenchRun:
    """What one run reported: transactions a second, and their mean latency in milliseconds."""

    tps: float
    latency_ms: float


def run_pgbench(
    database: BenchDatabase,
    script: str,
    *,
    clients: int,
    seconds: float = 5,
    threads: int = 2,
    variables: Mapping[str, str] | None = None,
) -> PgbenchRun:
    """Run a script for some seconds with prepared statements; every client on its own connection.

    `variables` are sent as parameters wherever the script says `:name`.
    """
    with tempfile.TemporaryDirectory(prefix="handover-pgbench-") as folder:
        file = Path(folder) / "script.sql"
        file.write_text(script)
        command = [
            database.cluster.binaries.path("pgbench"),
            *("--no-vacuum", "--protocol", "prepared", "--file", str(file)),
            *("--client", str(clients), "--jobs", str(min(threads, clients)), "--time", str(round(seconds))),
            *(f"--define={name}={value}" for name, value in (variables or {}).items()),
            *("--host", str(database.cluster.place.sockets), "--username", SUPERUSER),
            database.url.rpartition("/")[2],
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
        )
    if done.returncode != 0:
        raise RuntimeError(f"pgbench ended with {done.returncode}: {done.stderr.strip()}")
    return read_report(done.stdout)


def read_report(text: str) -> PgbenchRun:
    """Read the two figures out of pgbench's report."""
    tps = re.search(r"^tps = ([\d.]+)", text, re.MULTILINE)
    latency = re.search(r"^latency average = ([\d.]+) ms", text, re.MULTILINE)
    if tps is None or latency is None:
        raise ValueError(f"Not a report of pgbench: {text!r}")
    return PgbenchRun(float(tps[1]), float(latency[1]))
