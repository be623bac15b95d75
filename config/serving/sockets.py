"""Where the pools behind the gate are reached when everything runs on one machine: Unix sockets in a folder that is nobody else's."""

import hashlib
import os
import stat
import tempfile
from pathlib import Path
from typing import Final

POOLS: Final = {"student": "STUDENT_SOCKET", "pages": "PAGES_SOCKET"}  # line of Procfile.pools → variable

_LONGEST = 90  # the kernel takes 107 bytes, gunicorn appends a few of its own while it restarts


def make_socket_folder(data: Path) -> Path:
    """Make the folder below the data folder, or a short one below the temporary folder when that is too long a name."""
    folder = _choose_folder(data)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise PermissionError(1, "It belongs to somebody else; remove it", str(folder))
    folder.chmod(0o700)
    return folder


def socket_of(data: Path, pool: str) -> Path:
    """Return where `make run` puts a pool's socket."""
    return _choose_folder(data) / f"{pool}.sock"


def _choose_folder(data: Path) -> Path:
    folder = data / "sockets"
    if len(os.fsencode(folder / "student.sock")) > _LONGEST:
        return Path(tempfile.gettempdir()) / f"handover-pools-{_digest(data)}"
    return folder


def _digest(data: Path) -> str:
    return hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
