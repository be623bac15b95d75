"""Where the embedded server keeps its things below `HANDOVER_DATA`, and the addresses to reach it by.

Pure: settings read this too, so that every `manage.py` command finds the running server without being told.
"""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

_CONNECT_SECONDS = 3  # for each server: a frozen one takes the connection and never answers
SOCKET_NAME = ".s.PGSQL.5432"
LONGEST_SOCKET = 107  # bytes of sockaddr_un.sun_path without its closing NUL (unix(7)); macOS has 103
SUPERUSER = "postgres"
OWNER_ROLE = "handover_owner"
APP_ROLE = "handover_app"
DATABASE = "handover"
NODE_NAMES = ("a", "b", "c")  # the servers of a cluster
# For a session whose commits wait for the server's own disk and for no standby: that wait has no end of its own (ADR 0011).
COMMITS_HERE = "-c synchronous_commit=local"


@dataclass(frozen=True)
class Place:
    """The folders of one embedded server."""

    folder: Path

    @property
    def data(self) -> Path:
        """PostgreSQL's own data folder."""
        return self.folder / "postgres"

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self.folder / "log" / "postgres.log"

    @property
    def sockets(self) -> Path:
        """The folder of the Unix socket: ours, or a short one below the temporary folder when ours is too long a name."""
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        short = f"handover-{digest}"
        candidates = (
            self.folder / "run",
            Path(tempfile.gettempdir()) / short,
            Path("/tmp") / short,  # noqa: S108 - made with mode 0700 and refused when it is somebody else's
        )
        return next(folder for folder in candidates if _fits(folder))

    def url(self, role: str, database: str = DATABASE) -> str:
        """Return the address of a database for a role; the host of a socket is its percent-encoded folder."""
        return f"postgres://{role}@{quote(str(self.sockets), safe='')}/{database}"


@dataclass(frozen=True)
class TrioPlace:
    """The folders of a cluster of three, below `HANDOVER_DATA/cluster`."""

    folder: Path

    @property
    def marker(self) -> Path:
        """A file that is there while `make cluster` runs."""
        return self.folder / "running"

    def node(self, name: str) -> Place:
        """Return one server's place."""
        return Place(self.folder / name)

    def url(self, role: str, database: str = DATABASE) -> str:
        """Return the address of a database on whichever server takes writes: the client tries them in turn."""
        hosts = ",".join(quote(str(self.node(name).sockets), safe="") for name in NODE_NAMES)
        return f"postgres://{role}@{hosts}/{database}?target_session_attrs=read-write&connect_timeout={_CONNECT_SECONDS}"


def find_place(data: Path) -> Place | TrioPlace:
    """Return where the embedded database of this data folder is: the cluster while that runs, else the single server."""
    cluster = TrioPlace(data / "cluster")
    return cluster if cluster.marker.exists() else Place(data)


def _fits(sockets: Path) -> bool:
    return len(os.fsencode(sockets / SOCKET_NAME)) <= LONGEST_SOCKET - 4
