"""Several web processes answer on one port, and a scrape meets any of them: so each counts into a file that all can read.

This is prometheus-client's multiprocess mode, which it decides on when it is imported; nothing here may import it. The files
of processes that have ended stay, or counters would fall; those of an earlier run go when gunicorn starts.
"""

import os
from pathlib import Path
from typing import Final

import psutil

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"


def share_counters(folder: Path) -> None:
    """Let the processes that will be forked from this one count together."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*_*.db"):
        pid = file.stem.rpartition("_")[2]
        if not (pid.isdecimal() and psutil.pid_exists(int(pid))):
            file.unlink(missing_ok=True)
    os.environ[FOLDER] = str(folder)


def forget_process(folder: Path, pid: int) -> None:
    """Drop what an ended process said of its own present; what it has counted stays."""
    for file in folder.glob(f"gauge_live*_{pid}.db"):
        file.unlink(missing_ok=True)


def is_shared() -> bool:
    """Say whether this process counts together with others."""
    return FOLDER in os.environ
