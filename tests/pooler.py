"""A real PgBouncer in front of the run's server, that a test may kill and start again."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from config.postgres import Cluster
from config.postgres.place import SUPERUSER
from tests.waiting import wait_until

PORT = 6432  # only the name of its socket
SETTINGS = """\
[databases]
* = host={sockets}
[pgbouncer]
unix_socket_dir = {folder}
listen_port = {port}
auth_type = trust
auth_file = {folder}/users
pool_mode = session
default_pool_size = 60
max_client_conn = 200
"""


class Pooler:
    """PgBouncer in session mode, with its settings otherwise as they come."""

    def __init__(self, server: Cluster) -> None:
        program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
        assert program, "PgBouncer is missing (Debian: apt-get install pgbouncer)."
        self.folder = Path(tempfile.mkdtemp(prefix="handover-pooler-"))
        self._command = [program, str(self.folder / "settings")]
        self._account = server.account
        self._write("users", f'"{SUPERUSER}" ""\n')
        text = SETTINGS.format(sockets=server.place.sockets, folder=self.folder, port=PORT)
        self._write("settings", text)
        shutil.chown(self.folder, self._account.uid, self._account.gid)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it lets somebody in."""
        account = self._account.uid if self._account.drop else None
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command, user=account, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        wait_until(self._answers)

    def kill(self) -> None:
        """End it with -9: every connection through it breaks."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def url(self, database: str) -> str:
        """The address of a database through it."""
        host = str(self.folder).replace("/", "%2F")
        return f"postgres://{SUPERUSER}@{host}:{PORT}/{database}"

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self.folder / "log").read_text()
        try:
            psycopg.connect(
                make_conninfo("", host=str(self.folder), port=PORT, user=SUPERUSER, dbname="postgres")
            ).close()
        except psycopg.OperationalError:
            return False
        return True

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)


@pytest.fixture
def pooler(server: Cluster) -> Iterator[Pooler]:
    """A pooler that runs."""
    pooler = Pooler(server)
    try:
        pooler.start()
        yield pooler
    finally:
        pooler.kill()
        shutil.rmtree(pooler.folder)
