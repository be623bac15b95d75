"""One embedded PostgreSQL server: start it, reach it, stop it.

The server runs in the foreground as a direct child in a session of its own, so that a Ctrl-C in the terminal reaches only the
supervisor, which stops the database last. The caller makes sure that it is the only one to use the folder (`config.processes.lock`).
"""

import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from config.postgres import postmaster
from config.postgres.account import Account, get_server_account
from config.postgres.binaries import Binaries, find_binaries
from config.postgres.errors import PostgresError, describe_os_error
from config.postgres.folder import prepare_data, prepare_folders
from config.postgres.place import DATABASE, Place
from config.processes.tied import die_with_parent

LARGEST_LOG = 16 * 1024 * 1024
POLL_SECONDS = 0.02


class Cluster:
    """The server below one folder. `options` are server settings that win over `handover.conf`."""

    def __init__(self, folder: Path, *, options: Mapping[str, str] | None = None) -> None:
        self.place = Place(folder.resolve())
        self.options = dict(options or {})
        self.process: subprocess.Popen[bytes] | None = None
        self.notes: list[str] = []
        self._account: Account | None = None
        self._binaries: Binaries | None = None
        self._log_start = 0

    @property
    def binaries(self) -> Binaries:
        """The programs that belong to this server (`pgbench`, `psql`, `pg_dump`)."""
        if self._binaries is None:
            self._binaries = find_binaries(self.account, spare=self.place.folder)
        return self._binaries

    @property
    def account(self) -> Account:
        """The system account the server runs as."""
        if self._account is None:
            self._account = get_server_account()
        return self._account

    def url(self, role: str, database: str = DATABASE) -> str:
        """Return the address of a database of this server."""
        return self.place.url(role, database)

    def start(self, *, seconds: float = 300) -> None:
        """Start the server and wait until it answers (crash recovery included). Raises PostgresError."""
        for folder in prepare_folders(self.place, self.account):
            self.notes.append(
                f"{folder}: the account {self.account.name} may now pass through (one ACL entry)."
            )
        if postmaster.stop_leftover(self.place.data, self.place.sockets):
            self.notes.append(
                "A database server left over from a killed run was stopped first; nothing is lost."
            )
        prepare_data(self.place, self.account, self.binaries)
        self._log_start = self._rotate_log()
        self.process = self._spawn()
        self._wait_until_ready(seconds)

    def stop(self, *, seconds: float = 60) -> None:
        """Stop the server; do nothing when it does not run."""
        if self.process is None:
            return
        if self.process.poll() is None:
            postmaster.stop(psutil.Process(self.process.pid), seconds=seconds)
        self.process.wait()
        self.process = None

    def check_running(self) -> None:
        """Raise PostgresError when the server ended by itself, with the reason from its log."""
        if self.process is not None and self.process.poll() is not None:
            raise PostgresError(self._explain_end())

    def _explain_end(self) -> str:
        """Say in one line why the server ended, from what it logged since it was started."""
        with self.place.log.open("rb") as log:
            log.seek(self._log_start)
            return explain_log(log.read().decode(errors="replace"), self.place.log)

    def _spawn(self) -> subprocess.Popen[bytes]:
        drop = self.account.drop
        settings = {"unix_socket_directories": str(self.place.sockets), **self.options}
        flags = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with self.place.log.open("ab") as log:
            # preexec_fn runs after the change of user, which would undo it.
            return subprocess.Popen(
                [self.binaries.path("postgres"), "-D", str(self.place.data), *flags],
                user=self.account.uid if drop else None,
                group=self.account.gid if drop else None,
                extra_groups=[] if drop else None,
                cwd="/",
                env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent(postmaster.FAST),  # noqa: PLW1509 - no threads here yet
            )

    def _wait_until_ready(self, seconds: float) -> None:
        assert self.process is not None
        until = time.monotonic() + seconds
        while not postmaster.is_ready(self.place.data):
            if self.process.poll() is not None:
                self.process = None
                raise PostgresError(self._explain_end())
            if time.monotonic() > until:
                self.stop()
                raise PostgresError(
                    f"PostgreSQL did not answer within {seconds:.0f} s. Its log: {self.place.log}"
                )
            time.sleep(POLL_SECONDS)

    def _rotate_log(self) -> int:
        """Keep one older log when this one is large; return where the new entries begin."""
        log = self.place.log
        try:
            if log.exists() and log.stat().st_size > LARGEST_LOG:
                log.replace(log.with_suffix(".log.1"))
            log.touch(mode=0o600)
            return log.stat().st_size
        except OSError as error:
            raise describe_os_error(error, log) from error


def explain_log(text: str, log: Path) -> str:
    """Turn what the server logged before it ended into one line that says what to do."""
    folder = log.parent.parent
    if "shared memory segment" in text and "No space left on device" in text:
        return (
            "PostgreSQL ended: this machine has no room for its shared memory. `df /dev/shm` and `ipcs -m` show what takes it; "
            "a segment that nobody uses (nattch 0) was left by a killed server and can go: `ipcrm -m ID`."
        )
    if "No space left on device" in text or "Disk quota exceeded" in text:
        return f"PostgreSQL ended: the disk of {folder} is full. Make room there, then start again; nothing acknowledged is lost."
    if "Read-only file system" in text:
        return f"PostgreSQL ended: {folder} is on a read-only disk. Choose another folder with HANDOVER_DATA."
    said = re.findall(r"(?:FATAL|PANIC):\s+(.+)", text) or ["it was killed or said nothing"]
    return f"PostgreSQL ended: {said[-1]}. Its log: {log}"
