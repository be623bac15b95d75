"""The server process that a data folder says it has: is it really there, is it really ours, and how it is stopped.

A pid file outlives a killed machine, and the kernel gives the number to somebody else. So nothing is signalled before its
working folder proves it: a postmaster always sits in its data folder.
"""

import contextlib
import signal
from pathlib import Path

import psutil

from config.postgres.errors import PostgresError
from config.postgres.place import SOCKET_NAME

FAST, IMMEDIATE = (
    signal.SIGINT,
    signal.SIGQUIT,
)  # how a postmaster reads them (PostgreSQL manual, "Shutting Down")
READY_LINE = 7


def is_ready(data: Path) -> bool:
    """Say whether the server has written that it accepts connections."""
    lines = _read_pid_file(data)
    return len(lines) > READY_LINE and lines[READY_LINE].strip() == "ready"


def find_postmaster(data: Path) -> psutil.Process | None:
    """Return the running server of this data folder, or None when the file is missing, stale or about somebody else."""
    lines = _read_pid_file(data)
    if not lines or not lines[0].strip().isdigit():
        return None
    with contextlib.suppress(psutil.Error, OSError):
        process = psutil.Process(int(lines[0]))
        if process.name() == "postgres" and Path(process.cwd()).samefile(data):
            return process
    return None


def stop_leftover(data: Path, sockets: Path, *, seconds: float = 60) -> bool:
    """Stop a server whose supervisor was killed, else clear away its stale files; return whether one was running."""
    leftover = find_postmaster(data)
    if leftover is not None:
        stop(leftover, seconds=seconds)
    for stale in (
        data / "postmaster.pid",
        sockets / SOCKET_NAME,
        sockets / f"{SOCKET_NAME}.lock",
    ):
        stale.unlink(missing_ok=True)
    return leftover is not None


def stop(process: psutil.Process, *, seconds: float = 60) -> None:
    """Stop the server: sessions are ended and a checkpoint is written; after `seconds` without the checkpoint."""
    for sign in (FAST, IMMEDIATE):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(sign)
        try:
            process.wait(seconds)
        except psutil.TimeoutExpired:
            continue
        return
    raise PostgresError(
        f"The PostgreSQL server with process id {process.pid} does not stop. End it, then start again."
    )


def _read_pid_file(data: Path) -> list[str]:
    try:
        return (data / "postmaster.pid").read_text().splitlines()
    except OSError:
        return []
