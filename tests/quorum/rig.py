"""The rig: a primary and two standbys on the product's own binaries, and everything that can happen to them.

The servers are started by the product's own code (`config.postgres.trio`), from copies of one server that was stopped in
good order: migrated, empty, nothing to recover and nothing to sync, so they are ready in about a second. Two things differ
from the product: less memory, and `synchronous_standby_names` stands in a file, where `ALTER SYSTEM` can empty it.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg

from config.postgres import Cluster, postmaster
from config.postgres.account import run_as
from config.postgres.node import Node
from config.postgres.place import DATABASE, SUPERUSER
from config.postgres.roles import ensure_database
from config.postgres.trio import STANDBY_NAMES, Trio
from tests.waiting import wait_until

MEMBERS = ("a", "b", "c")
_SMALL = {
    "shared_buffers": "32MB",
    "wal_buffers": "4MB",
    "wal_keep_size": "256MB",
    "min_wal_size": "32MB",
    "max_wal_size": "512MB",
    "dynamic_shared_memory_type": "mmap",  # in the data folder: what a killed server leaves goes with that
}


def make_template(server: Cluster, database: str, folder: Path) -> Node:
    """Make a stopped server that has this database of a running one, once; every rig begins as three copies of it.

    It is dumped and not backed up: other tests write to that server, and a dump reads one database, which is the caller's own.
    """
    template = Node(folder, name="template", options={**_SMALL, "wal_keep_size": "0", "fsync": "off"})
    template.start()
    ensure_database(template)  # for the roles
    _move(database, server, template)
    template.stop()
    with (template.place.data / "postgresql.auto.conf").open("w") as conf:
        conf.write(f"synchronous_standby_names = '{STANDBY_NAMES}'\n")
    return template


def _move(database: str, source: Cluster, target: Node) -> None:
    """Copy a database with everything in it, and let the planner know what that is."""
    # The only folder beside the data in which the server's account may write.
    dump = str(target.place.sockets / "dump.sql")
    _run(source, "pg_dump", f"--file={dump}", "--create", database)
    if database == DATABASE:
        _run(target, "dropdb", database)
    _run(target, "psql", f"--file={dump}", "--quiet", "--set=ON_ERROR_STOP=1", "postgres")
    _run(target, "psql", "--command=VACUUM (ANALYZE)", "--quiet", database)


def _run(server: Cluster, program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's own programs against a server."""
    where = (f"--host={server.place.sockets}", f"--username={SUPERUSER}")
    done = run_as(server.account, [server.binaries.path(program), *where, *arguments])
    assert done.returncode == 0, done.stderr


class Rig:
    """Three servers; `a` begins as the primary."""

    def __init__(self, template: Node, database: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="handover-rig-", dir=template.place.folder.parent))
        self.database = database
        self.trio = Trio(self.folder, options=_SMALL)
        self._frozen: list[psutil.Process] = []
        self._begun: dict[str, object] = {}
        for node in self.trio:
            node.options.pop("synchronous_standby_names")
            node.place.folder.mkdir()
            subprocess.run(
                ["cp", "-a", "--reflink=auto", template.place.data, node.place.data], check=True, timeout=60
            )

    def start(self) -> None:
        """Start the primary, then the standbys, and wait until both stream."""
        primary, *standbys = self.trio
        primary.start()
        for node in standbys:
            node.follow(primary.place)
            node.start()
        self.wait_until_streaming("a", 2)
        self._begun = {node.name: self._look_at(node) for node in self.trio}

    def is_whole(self) -> bool:
        """Whether all stands as at the start: the same servers, of which `a` leads, as they were set, and nobody else at work."""
        if self._begun != {node.name: self._look_at(node) for node in self.trio}:
            return False
        with contextlib.suppress(AssertionError, psycopg.OperationalError):
            wait_until(lambda: self._list_roles() == [False, True, True], seconds=5)
            wait_until(lambda: self.count_streaming("a") == 2 and not self._list_others(), seconds=5)
            return True
        return False

    def _list_roles(self) -> list[object]:
        """Whether each is a standby."""
        return [self.run(name, "SELECT pg_is_in_recovery()")[0][0] for name in MEMBERS]

    def _look_at(self, node: Node) -> tuple[object, ...]:
        """Which process it is, as long as it runs, and what it was told."""
        process = node.process
        is_running = process is not None and process.poll() is None
        return is_running and process, (node.place.data / "postgresql.auto.conf").read_bytes()

    def _list_others(self) -> list[tuple[object, ...]]:
        """The sessions that a test has left on the primary, beside the one Django keeps."""
        return self.run(
            "a",
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
            " AND pid <> pg_backend_pid() AND (state <> 'idle' OR application_name = 'handover-gate')",
        )

    def close(self) -> None:
        """End everything, however it stands, and remove it."""
        self.thaw()
        for node in self.trio:
            self.kill(node.name)
        shutil.rmtree(self.folder)

    @property
    def url(self) -> str:
        """The address of whichever server takes writes."""
        return self.trio.place.url(SUPERUSER, self.database)

    @property
    def hosts(self) -> str:
        """The same as libpq's list of hosts."""
        return ",".join(str(node.place.sockets) for node in self.trio)

    @property
    def environment(self) -> dict[str, str]:
        """The environment for a real process of ours on it."""
        return {
            **os.environ,
            "DATABASE_URL": self.url,
            "DATABASE_OWNER_URL": self.url,
            "HANDOVER_DURABILITY": "quorum",
            "HANDOVER_STANDBYS": ",".join(MEMBERS),
        }

    def node(self, name: str) -> Node:
        """One of the servers."""
        return self.trio.nodes[name]

    def run(self, name: str, statement: str, *parameters: object) -> list[tuple[object, ...]]:
        """Run a statement on this very server, committing to its own disk only."""
        alone = "-c synchronous_commit=local"
        address = self.node(name).url(SUPERUSER, self.database)
        with psycopg.connect(address, autocommit=True, options=alone) as connection:
            cursor = connection.execute(statement.encode(), parameters or None)
            return cursor.fetchall() if cursor.description else []

    def wait_until_streaming(self, primary: str, count: int) -> None:
        """Wait until so many standbys stream from this server."""
        wait_until(lambda: self.count_streaming(primary) >= count)

    def count_streaming(self, primary: str) -> int:
        """Return how many standbys stream from this server."""
        return len(self.run(primary, "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'"))

    def freeze(self, *names: str) -> None:
        """Stop the reception of these standbys: their walreceivers get SIGSTOP, and the primary sees nothing yet."""
        for name in names:
            [[pid]] = self.run(name, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walreceiver'")
            self._stop(psutil.Process(int(str(pid))))

    def freeze_node(self, name: str) -> None:
        """Stop a whole server where it stands, as a paused virtual machine would."""
        found = postmaster.find_postmaster(self.node(name).place.data)
        assert found is not None
        for process in (found, *found.children(recursive=True)):
            self._stop(process)

    def thaw(self) -> None:
        """Let everything that was frozen go on."""
        for process in self._frozen:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()
        self._frozen.clear()

    def kill(self, name: str) -> None:
        """End a server as a power cut would: kill -9 for all its processes at once."""
        node = self.node(name)
        found = postmaster.find_postmaster(node.place.data)
        if found is not None:
            for process in (found, *found.children(recursive=True)):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs([found], timeout=10)
        if node.process is not None:
            node.process.wait(timeout=10)
            node.process = None

    def start_again(self, name: str) -> None:
        """Start a server that has ended, as whatever its folder says it is."""
        node = self.node(name)
        if node.process is not None:
            node.process.wait(timeout=30)
            node.process = None
        node.start()

    def promote_naively(self, name: str) -> None:
        """Promote without asking or fencing anybody: what a hurried hand would type."""
        self.run(name, "SELECT pg_promote(true, 30)")

    def list_waiting(self, name: str) -> list[int]:
        """Return the sessions whose COMMIT waits for a standby."""
        rows = self.run(name, "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' ORDER BY pid")
        return [int(str(pid)) for (pid,) in rows]

    def set_names(self, name: str, names: str) -> None:
        """Change `synchronous_standby_names` under the gate's feet, as an operator might."""
        self.run(name, f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        self.run(name, "SELECT pg_reload_conf()")
        wait_until(lambda: self.run(name, "SHOW synchronous_standby_names") == [(names,)])

    def _stop(self, process: psutil.Process) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.suspend()
            self._frozen.append(process)
            # One that was just ending is left as a zombie: its parent, which would see to it, is stopped already.
            wait_until(lambda: process.status() in {psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE})


@contextlib.contextmanager
def rigging(template: Node, database: str) -> Iterator[Rig]:
    """Run a rig for the length of the block."""
    rig = Rig(template, database)
    try:
        rig.start()
        yield rig
    finally:
        rig.close()
