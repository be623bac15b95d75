"""A disk that can run full: a small file system of its own under one part of a server's data folder.

It takes a mount, so it takes root on Linux (in a container CAP_SYS_ADMIN); `can_mount` says whether this machine allows it.
"""

import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Self

SIZE = 192 * 1024 * 1024
BALLAST = "ballast"  # PostgreSQL passes over names that are none of its own


@cache
def can_mount() -> bool:
    """Say whether this process may mount a file system, by doing it."""
    folder = Path(tempfile.mkdtemp(prefix="handover-mount-"))
    try:
        _run("mount", "-t", "tmpfs", "handover", folder)
        _run("umount", folder)
    except (OSError, subprocess.CalledProcessError):
        return False
    finally:
        folder.rmdir()
    return True


class SmallDisk:
    """What is in `folder`, on a file system that has little room. Whoever works there must not run while it is made."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Self:
        owner = self._folder.stat()
        large = self._folder.rename(self._folder.with_name(f"{self._folder.name}.large"))
        self._folder.mkdir()
        _run("mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=700", "handover", self._folder)
        os.chown(self._folder, owner.st_uid, owner.st_gid)
        _run("cp", "-a", f"{large}/.", self._folder)
        shutil.rmtree(large)
        return self

    def __exit__(self, *_: object) -> None:
        _run("umount", "--lazy", self._folder)

    def fill(self) -> None:
        """Leave not one free byte."""
        with (self._folder / BALLAST).open("wb") as ballast:
            free = os.statvfs(self._folder)
            os.posix_fallocate(ballast.fileno(), 0, free.f_bavail * free.f_frsize)

    def make_room(self) -> None:
        """Give the room back."""
        (self._folder / BALLAST).unlink()


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=60)
