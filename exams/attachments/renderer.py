"""Has a file looked into by the program in `rendering`, and reads what that says. Knows no database either."""

import dataclasses
import tempfile
from pathlib import Path
from typing import IO, Any, Final

from exams.attachments.limits import RENDER_SECONDS
from exams.models import ObjectRole
from outbox.confined import LONGEST_DIAGNOSIS, Unreadable, look_into

_CRASHED: Final = "This file cannot be read."


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
    """Return what is made of this file. Raises `LookInterrupted`; takes at most about a minute."""
    with tempfile.TemporaryDirectory(prefix="handover-render-") as folder:
        try:
            said = look_into(
                original, "exams.attachments.rendering", file_type, folder, seconds=RENDER_SECONDS
            )
        except Unreadable as error:
            return UnusableFile(_CRASHED, str(error))
        return _read(said, Path(folder))


def _read(said: dict[str, Any], folder: Path) -> Rendered | UnusableFile:
    if "problem" in said:
        return UnusableFile(said["problem"], said["diagnosis"][:LONGEST_DIAGNOSIS])
    pictures = {
        role: (folder / role).read_bytes()
        for role in (ObjectRole.PREVIEW, ObjectRole.THUMBNAIL)
        if (folder / role).exists()
    }
    return Rendered(**said, pictures=pictures)
