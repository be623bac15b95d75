"""A database server of the test's own, to be stopped and started while processes of ours run on it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config.postgres import Cluster
from config.postgres.place import DATABASE, SUPERUSER
from tests.processes.running import Running


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Cluster]:
    """A server that may be restarted and keeps prepared transactions, with a migrated database."""
    cluster = Cluster(
        Path(tempfile.mkdtemp(prefix="handover-restart-")), options={"max_prepared_transactions": "5"}
    )
    try:
        cluster.start()
        with psycopg.connect(cluster.url(SUPERUSER, "postgres"), autocommit=True) as admin:
            admin.execute(f'CREATE DATABASE "{DATABASE}"')
        with Running(
            "migrate", environment=get_environment(cluster), log=tmp_path / "migrate.log"
        ) as migrate:
            assert migrate.wait() == 0, migrate.output
        yield cluster
    finally:
        cluster.stop(seconds=5)
        shutil.rmtree(cluster.place.folder)


def get_environment(cluster: Cluster) -> dict[str, str]:
    """Return the environment for a process of ours on this server."""
    url = cluster.url(SUPERUSER)
    return {**os.environ, "DATABASE_URL": url, "DATABASE_OWNER_URL": url}


def fetch(cluster: Cluster, statement: str, *parameters: object) -> list[tuple[object, ...]]:
    """Run a statement in a transaction of its own."""
    with psycopg.connect(cluster.url(SUPERUSER)) as connection:
        cursor = connection.execute(statement, parameters)
        return cursor.fetchall() if cursor.description else []
