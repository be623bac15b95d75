"""`make database`: the embedded server and nothing else, for somebody who loads a backup."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config.postgres.place import DATABASE, OWNER_ROLE, Place
from tests.processes.running import Running
from tests.waiting import wait_until

pytestmark = pytest.mark.process


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data folder with a name short enough for its socket."""
    folder = Path(tempfile.mkdtemp(prefix="handover-alone-"))
    yield folder
    shutil.rmtree(folder)


def start(folder: Path, **environment: str) -> Running:
    bare = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "ENV_FILE": os.devnull,
        "HANDOVER_DATA": str(folder),
    }
    return Running(
        "database", program=("-m", "config"), environment=bare | environment, log=folder / "output"
    )


def test_database_runs_alone_and_empty_until_told_to_stop(folder: Path) -> None:
    with start(folder) as running:
        wait_until(lambda: "until Ctrl-C" in running.output, seconds=60)
        address = Place(folder.resolve()).url(OWNER_ROLE)
        with psycopg.connect(address) as connection:
            found = connection.execute(
                "SELECT current_database(), count(*) FROM pg_stat_user_tables"
            ).fetchall()
        running.send(signal.SIGTERM)
        code = running.wait()

    assert (code, found) == (0, [(DATABASE, 0)])
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(address)


def test_database_of_somebody_else_is_not_ours_to_run(folder: Path) -> None:
    with start(folder, DATABASE_URL="postgres://me@elsewhere/handover") as running:
        assert running.wait() == 1
        assert running.output == (
            "handover: DATABASE_URL names a server; make database is about the embedded one. Unset it.\n"
        )
