"""One audit library at work, as the benchmark sees it: a process in the libraries' own environment, with a database of its own."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import psycopg

from config.postgres import Cluster
from config.postgres.place import SUPERUSER
from tests.benchmarks.peers.crew import kill_group, make_peers_python

HERE = Path(__file__).parent
LIBRARIES = ("auditlog", "pghistory", "reversion", "simple_history")


class Library:
    """A process that takes orders (`apps/audit_peer.py` has their list), and its database."""

    def __init__(self, name: str, process: "subprocess.Popen[str]", url: str) -> None:
        self.name = name
        self._process = process
        self._url = url

    @classmethod
    @contextlib.contextmanager
    def at_work(cls, name: str, cluster: Cluster) -> Iterator[Self]:
        """Make the database and run the process for the length of the block."""
        with psycopg.connect(cluster.url(SUPERUSER, "postgres"), autocommit=True) as admin:
            admin.execute(f'CREATE DATABASE "with_{name}"')
        url = cluster.url(SUPERUSER, f"with_{name}")
        process = subprocess.Popen(
            [make_peers_python(HERE / "requirements.txt"), "audit_peer.py", name],
            cwd=HERE / "apps",
            env={"PATH": os.environ["PATH"], "PEER_DATABASE": url},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=sys.stderr,
            text=True,
            start_new_session=True,
        )
        try:
            yield cls(name, process, url)
        finally:
            kill_group(process)

    def install(self, students: int, columns: int) -> None:
        """Make the tables, and a class whose every cell has a mark."""
        self._order("install", students, columns)

    def edit(self, count: int) -> list[float]:
        """Change so many cells, one after the other; return the seconds of each."""
        return list(self._order("edit", count))

    def open_drawer(self, count: int) -> list[float]:
        """List the newest changes so many times; return the seconds of each."""
        return list(self._order("drawer", count))

    def count_queries_of_drawer(self) -> int:
        """Return how many queries such a list is."""
        return int(self._order("queries"))

    def measure_size(self) -> int:
        """Return the bytes of all its tables with their indexes and what they store out of line, after a vacuum."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("VACUUM")
            row = connection.execute(
                "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
                " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            ).fetchone()
        assert row is not None
        return int(row[0])

    def _order(self, order: str, *numbers: int) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(" ".join([order, *map(str, numbers)]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"{self.name} ended; what it said is above."
        return json.loads(answer)
