"""The folder of a test run, for its servers and everything else it writes: in memory where there is room for it.

Tests kill processes and never the machine, so nothing here has to outlive a power cut; a disk would only make each of some
hundred servers and some thousand emptied tables wait for it. Where time is measured it shall wait: `make chaos` names a folder on a disk
(`HANDOVER_TESTS_IN`). What a killed run leaves is swept by the next.
"""

import ctypes
import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple, Self

import psutil

from config.postgres import PostgresError
from config.postgres.account import get_server_account, open_passage

_MEMORY = Path("/dev/shm")
_PREFIX = "handover-"  # short: the paths of sockets have an end
_SEGMENTS = Path("/proc/sysvipc/shm")
_REMOVE = 0  # IPC_RMID (Linux: include/uapi/linux/ipc.h)
_ROOM = 4 << 30  # a whole run with three workers needs less than half of it


def make_ground() -> Path:
    """Make the folder of this process's run, after sweeping those of runs that are dead."""
    for parent in (_MEMORY, Path(tempfile.gettempdir())):
        sweep(parent)
    sweep_segments(get_server_account().uid)
    if named := os.environ.get("HANDOVER_TESTS_IN"):
        return _make_in(Path(named))
    if _has_room(_MEMORY):
        folder = _make_in(_MEMORY)
        try:
            open_passage(get_server_account(), folder)
        except PostgresError:  # this kernel's memory has no ACLs, and the server runs as somebody else
            folder.rmdir()
        else:
            return folder
    return _make_in(None)


def _make_in(parent: Path | None) -> Path:
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))


def _has_room(memory: Path) -> bool:
    """Whether it is there, has room that is really there, and lets programs run (Docker's own has neither)."""
    if not os.access(memory, os.W_OK | os.X_OK) or os.statvfs(memory).f_flag & os.ST_NOEXEC:
        return False
    return min(shutil.disk_usage(memory).free, psutil.virtual_memory().available) > _ROOM


def sweep(parent: Path) -> None:
    """Remove what runs whose process is gone left in this folder."""
    for left in parent.glob(f"{_PREFIX}*-*"):
        number = left.name.removeprefix(_PREFIX).partition("-")[0]
        if number.isdecimal() and not psutil.pid_exists(int(number)):
            shutil.rmtree(left, ignore_errors=True)


class Segment(NamedTuple):
    """A System V segment of shared memory, of those the kernel lists."""

    id: int
    made_by: int
    users: int
    uid: int

    @classmethod
    def of(cls, line: str) -> Self:
        """Read a line of the kernel's list: key, id, permissions, size, maker, last user, how many use it, owner, and more."""
        fields = line.split()
        return cls(int(fields[1]), int(fields[4]), int(fields[6]), int(fields[7]))


def list_segments() -> list[Segment]:
    """Return what the kernel lists; nothing where it has no such list."""
    lines = _SEGMENTS.read_text().splitlines() if _SEGMENTS.exists() else []
    return [Segment.of(line) for line in lines[1:]]


def sweep_segments(uid: int) -> None:
    """Remove the segments that killed servers of this account left: each has one, no process frees it, and a kernel holds 4,096.

    A server that is started again on its folder removes its own; those of the tests are gone with their folders.
    """
    for segment in list_segments():
        if segment.uid == uid and not segment.users and not psutil.pid_exists(segment.made_by):
            ctypes.CDLL(None).shmctl(segment.id, _REMOVE, None)
