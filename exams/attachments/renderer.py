"""Has a file looked into by the program in `rendering`, and reads what that says. Knows no database either."""

import dataclasses
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any, Final

from exams.attachments.limits import RENDER_SECONDS
from exams.attachments.rendering import NOT_THE_FILE
from exams.models import ObjectRole

ROOT: Final = Path(__file__).resolve().parents[2]
_LONGEST_DIAGNOSIS: Final = 2_000
_CRASHED: Final = "This file cannot be read."
# The kernel kills whoever is too large for the machine at that moment; that says nothing about the file.
_NOT_THE_FILES_FAULT: Final = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT}


class RenderingInterrupted(Exception):
    """The rendering did not get to its end, for no reason of the file's: it may work the next time."""


@dataclasses.dataclass(frozen=True, slots=True)
class Rendered:
    """What there is to know and to show of a file; nothing is shown of a PDF."""

    width: int | None = None
    height: int | None = None
    pages: int | None = None
    pictures: dict[ObjectRole, bytes] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class UnusableFile:
    """Why a file cannot be shown: in words for the student, and for staff."""

    problem: str
    diagnosis: str


def render_file(original: IO[bytes], file_type: str) -> Rendered | UnusableFile:
    """Return what is made of this file. Raises `RenderingInterrupted`; takes at most about a minute."""
    with tempfile.TemporaryDirectory(prefix="handover-render-") as folder, tempfile.TemporaryFile() as source:
        shutil.copyfileobj(original, source)
        source.seek(0)
        try:
            run = subprocess.run(
                [sys.executable, "-m", "exams.attachments.rendering", file_type, folder],
                stdin=source,
                capture_output=True,
                cwd=ROOT,
                env={},
                timeout=2 * RENDER_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return UnusableFile(_CRASHED, f"The decoder did not end within {2 * RENDER_SECONDS} s.")
        return _read(run, Path(folder))


def _read(run: "subprocess.CompletedProcess[bytes]", folder: Path) -> Rendered | UnusableFile:
    if run.returncode in _NOT_THE_FILES_FAULT:
        raise RenderingInterrupted(f"The decoder was ended by signal {-run.returncode}.")
    words = run.stderr.decode(errors="replace")[-_LONGEST_DIAGNOSIS:]
    if run.returncode == NOT_THE_FILE:
        raise RenderingInterrupted(f"The decoder could not look into the file. {words}")
    if run.returncode:
        return UnusableFile(_CRASHED, f"The decoder ended with {run.returncode}. {words}")
    said: dict[str, Any] = json.loads(run.stdout)
    if "problem" in said:
        return UnusableFile(said["problem"], said["diagnosis"][:_LONGEST_DIAGNOSIS])
    pictures = {
        role: (folder / role).read_bytes()
        for role in (ObjectRole.PREVIEW, ObjectRole.THUMBNAIL)
        if (folder / role).exists()
    }
    return Rendered(**said, pictures=pictures)
