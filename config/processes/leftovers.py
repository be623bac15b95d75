"""What a killed supervisor may leave behind, found again and stopped at the next start.

On Linux the kernel already told the children that we are gone; they may still be finishing. Elsewhere nobody told them. A number alone
says nothing (the kernel gives it to somebody else), so each process is recorded with the time it began.
"""

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

import psutil

GRACE_SECONDS = 30


def record(folder: Path, pids: Iterable[int]) -> None:
    """Write down which processes run now; nothing is written while they stay the same."""
    running = [(process.pid, process.create_time()) for process in _find(pids)]
    text = json.dumps(running)
    file = _file(folder)
    if not file.exists() or file.read_text() != text:
        file.with_suffix(".unfinished").write_text(text)
        file.with_suffix(".unfinished").replace(file)


def stop_all(folder: Path) -> list[str]:
    """Stop the recorded processes that still run; return a line about it for a person, or nothing."""
    alive = [tree for process in _list_recorded(folder) for tree in _with_children(process)]
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    _, stubborn = psutil.wait_procs(alive, timeout=GRACE_SECONDS)
    for process in stubborn:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(stubborn, timeout=GRACE_SECONDS)
    forget(folder)
    return [f"{len(alive)} processes left over from a killed run were stopped first."] if alive else []


def forget(folder: Path) -> None:
    """Remove the record: everything was stopped in good order."""
    _file(folder).unlink(missing_ok=True)


def _list_recorded(folder: Path) -> list[psutil.Process]:
    try:
        recorded = dict(json.loads(_file(folder).read_text()))
    except (OSError, ValueError, TypeError):  # none, or not one of ours
        return []
    return [process for process in _find(recorded) if process.create_time() == recorded[process.pid]]


def _with_children(process: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return [process, *process.children(recursive=True)]
    return []


def _find(pids: Iterable[int]) -> list[psutil.Process]:
    found = []
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            found.append(psutil.Process(pid))
    return found


def _file(folder: Path) -> Path:
    return folder / "processes.json"
