"""What all of them work on: submissions of 1.5 KB with a key each, and where the results go. One database, apart from Handover's own."""

import dataclasses
import random
from importlib import resources

import psycopg

from config.postgres import Cluster
from config.postgres.place import SUPERUSER

DATABASE = "peers"
EXAMS = 10
ANSWERS_OF_1_5_KB = 60


@dataclasses.dataclass(frozen=True, slots=True)
class WorkPlace:
    """The database with the work. `results` may hold more rows than there is work: what was done twice is there twice."""

    url: str

    def __post_init__(self) -> None:
        """Make the tables."""
        self._run("create_work")

    @classmethod
    def on(cls, cluster: Cluster, database: str = DATABASE) -> "WorkPlace":
        """Make the database, if it is not there, and the tables in it."""
        with psycopg.connect(cluster.url(SUPERUSER, "postgres"), autocommit=True) as admin:
            if not admin.execute("SELECT FROM pg_database WHERE datname = %s", [database]).fetchone():
                admin.execute(f'CREATE DATABASE "{database}"')
        return cls(cluster.url(SUPERUSER, database))

    def hand_in(self, count: int) -> None:
        """Empty it and put so many submissions there."""
        chance = random.Random(count)
        self._run("fill_work", count=count, exams=EXAMS, answers=ANSWERS_OF_1_5_KB, seed=chance.random())

    def count_results(self) -> int:
        """Return how many results there are, those of jobs done twice counted twice."""
        return self._count("SELECT count(*) FROM bench_result")

    def count_done(self) -> int:
        """Return how many submissions have a result."""
        return self._count("SELECT count(DISTINCT submission_id) FROM bench_result")

    def count_doubled(self) -> int:
        """Return how many submissions have more than one."""
        return self._count(
            "SELECT count(*) FROM (SELECT FROM bench_result GROUP BY submission_id HAVING count(*) > 1) AS doubled"
        )

    def measure_rate(self) -> float:
        """Return results a second, over those after the first tenth, by the times they were written."""
        late = """
            WITH begun AS (SELECT percentile_disc(0.1) WITHIN GROUP (ORDER BY at) AS at FROM bench_result)
            SELECT count(*) / extract(epoch FROM max(result.at) - min(begun.at))
            FROM bench_result AS result CROSS JOIN begun
            WHERE result.at > begun.at
        """
        with psycopg.connect(self.url) as connection:
            row = connection.execute(late).fetchone()
        assert row is not None
        return float(row[0])

    def count_waiting_at(self, gate: int) -> int:
        """Return how many sessions wait for the advisory lock."""
        return self._count(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND NOT granted", gate
        )

    def _count(self, statement: str, *parameters: int) -> int:
        with psycopg.connect(self.url) as connection:
            row = connection.execute(statement, parameters).fetchone()
        assert row is not None
        return int(row[0])

    def _run(self, name: str, **parameters: object) -> None:
        text = (resources.files("tests.benchmarks") / "sql" / f"{name}.sql").read_text(encoding="utf-8")
        with psycopg.connect(self.url, autocommit=True) as connection:
            for statement in text.split(";\n\n"):
                connection.execute(statement, parameters or None)
