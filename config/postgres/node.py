"""One of the servers of a cluster: a primary, or a standby that streams from it. Made by copying, brought back by rewinding.

The one thing to know: a folder with `standby.signal` is a standby and may be started at any time; one without it believes that it is the
primary, and starting it is a decision.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

from psycopg.conninfo import make_conninfo

from config.postgres import postmaster
from config.postgres.account import run_as
from config.postgres.cluster import Cluster
from config.postgres.errors import PostgresError, explain_failure
from config.postgres.folder import prepare_folders
from config.postgres.place import SUPERUSER, Place

# What every server of a cluster runs with, standby or not: any of them may be the primary next (ADR 0011).
SETTINGS = {
    "wal_log_hints": "on",
    "wal_keep_size": "1GB",  # a standby that was away for longer is copied anew; no slot can fill the primary's disk
    "wal_sender_timeout": "10s",
    "wal_receiver_timeout": "10s",
    "wal_retrieve_retry_interval": "500ms",
    "restart_after_crash": "off",  # a crash is a fail-over: after a restart everything would be visible, replicated or not
    "max_prepared_transactions": "0",
}


class Node(Cluster):
    """A server with a name, under which it streams."""

    def __init__(self, folder: Path, *, name: str, options: Mapping[str, str] | None = None) -> None:
        super().__init__(folder, options={**SETTINGS, **(options or {}), "cluster_name": name})
        self.name = name

    @property
    def exists(self) -> bool:
        """Whether it has data."""
        return (self.place.data / "PG_VERSION").exists()

    @property
    def is_standby(self) -> bool:
        """Whether it would start as a standby."""
        return self._signal.exists()

    @property
    def is_running(self) -> bool:
        """Whether a server works on its folder, ours or not."""
        return postmaster.find_postmaster(self.place.data) is not None

    @property
    def has_ended(self) -> bool:
        """Whether we started it and it is gone."""
        return self.process is not None and self.process.poll() is not None

    def read_timeline(self) -> int:
        """Return the timeline of its last checkpoint, from its files: it need not run."""
        shown = self._run("pg_controldata", "--pgdata", str(self.place.data))
        lines = dict(line.split(":", 1) for line in shown.splitlines() if ":" in line)
        return int(lines["Latest checkpoint's TimeLineID"])

    def rejoin(self, primary: Place) -> bool:
        """Make it a standby of this running primary; return whether rewinding was enough, or it was copied anew. It must not run.

        Too much of its log may be gone to find the place where the two parted.
        """
        try:
            self.rewind(primary)
        except PostgresError:
            self.copy(primary)
            return False
        return True

    def copy(self, primary: Place) -> None:
        """Make it a standby by copying the running primary, in place of whatever was there."""
        prepare_folders(self.place, self.account)
        unfinished = self.place.data.with_name("postgres.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        self._make_folder(unfinished)
        source = ("--host", str(primary.sockets), "--username", SUPERUSER)
        self._run("pg_basebackup", "--pgdata", str(unfinished), "--checkpoint=fast", *source)
        shutil.rmtree(self.place.data, ignore_errors=True)
        unfinished.rename(self.place.data)
        self.follow(primary)

    def rewind(self, primary: Place) -> None:
        """Take back what it had and the running primary has not, and make it a standby. It must not run."""
        source = make_conninfo("", host=str(primary.sockets), user=SUPERUSER, dbname="postgres")
        # pg_rewind lets a killed server recover first, with the settings in its files alone: without this one that would throw away
        # the very log it reads afterwards.
        self._write("wal_keep_size", SETTINGS["wal_keep_size"])
        self._run("pg_rewind", "--target-pgdata", str(self.place.data), "--source-server", source)
        self.follow(primary)

    def follow(self, primary: Place) -> None:
        """Let it stream from this server when it starts. It must not run (`ALTER SYSTEM` would write the same file)."""
        self._write("primary_conninfo", self.write_conninfo(primary))
        self._signal.touch(mode=0o600)
        shutil.chown(self._signal, self.account.uid, self.account.gid)

    def write_conninfo(self, primary: Place) -> str:
        """Return how it reaches its primary; the name at the end is what the primary counts."""
        return make_conninfo("", host=str(primary.sockets), user=SUPERUSER, application_name=self.name)

    @property
    def _signal(self) -> Path:
        return self.place.data / "standby.signal"

    def _write(self, setting: str, value: str) -> None:
        """Write one setting where `ALTER SYSTEM` would."""
        conf = self.place.data / "postgresql.auto.conf"
        kept = [line for line in conf.read_text().splitlines() if not line.startswith(setting)]
        quoted = value.replace("'", "''")
        conf.write_text("\n".join([*kept, f"{setting} = '{quoted}'", ""]))

    def _make_folder(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        shutil.chown(folder, self.account.uid, self.account.gid)

    def _run(self, program: str, *arguments: str) -> str:
        done = run_as(self.account, [self.binaries.path(program), *arguments])
        if done.returncode != 0:
            raise PostgresError(
                f"{program} failed for the server {self.name}: {explain_failure(done.stderr)}"
            )
        return done.stdout
