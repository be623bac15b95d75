"""The folder of a test run: what dead runs left is swept, and nobody else's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ground import list_segments, sweep, sweep_segments

_MAKE_A_SEGMENT = "import ctypes; print(ctypes.CDLL(None).shmget(0, 56, 0o1600), flush=True); input()"


def test_sweeping_removes_what_dead_runs_left_and_nothing_else(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    kept = {f"handover-{os.getpid()}-x", "handover-bench-x", f"handover-{dead.pid}", f"other-{dead.pid}-x"}
    for name in {*kept, f"handover-{dead.pid}-x"}:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()

    sweep(tmp_path)

    assert {folder.name for folder in tmp_path.iterdir()} == kept


@pytest.mark.process
def test_segment_of_a_dead_process_is_removed_and_that_of_a_living_one_is_not() -> None:
    maker = subprocess.Popen(
        [sys.executable, "-c", _MAKE_A_SEGMENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert maker.stdout is not None
    made = int(maker.stdout.readline())

    sweep_segments(os.geteuid())
    assert made in {segment.id for segment in list_segments()}
    maker.communicate("\n")
    sweep_segments(os.geteuid())
    assert made not in {segment.id for segment in list_segments()}
