"""The folder of a test run: what dead runs left is swept, and nobody else's."""

import os
import subprocess
import sys
from pathlib import Path

from tests.ground import sweep


def test_sweeping_removes_what_dead_runs_left_and_nothing_else(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    kept = {f"handover-{os.getpid()}-x", "handover-bench-x", f"handover-{dead.pid}", f"other-{dead.pid}-x"}
    for name in {*kept, f"handover-{dead.pid}-x"}:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()

    sweep(tmp_path)

    assert {folder.name for folder in tmp_path.iterdir()} == kept
