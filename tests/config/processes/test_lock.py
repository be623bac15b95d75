"""One Handover per data folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from config.processes.lock import FolderInUse, FolderLock

HOLD = """
import sys; from pathlib import Path; from config.processes.lock import FolderLock
FolderLock(Path(sys.argv[1])).acquire(); print("held", flush=True); sys.stdin.read()
"""


def test_lock_names_the_process_that_holds_it(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FolderInUse) as refused:
            FolderLock(tmp_path).acquire()
        holder.kill()
    assert str(refused.value) == (
        f"Another Handover (process {holder.pid}) is using {tmp_path}. "
        "Stop it first (Ctrl-C in its window), or choose another folder with HANDOVER_DATA."
    )
    FolderLock(tmp_path).acquire().release()  # the kernel took it back from the killed process


def test_lock_can_be_taken_again_after_release(tmp_path: Path) -> None:
    FolderLock(tmp_path).acquire().release()
    FolderLock(tmp_path).acquire().release()
