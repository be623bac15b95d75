"""One Handover per data folder: a lock the kernel takes back by itself when its holder dies, however it dies."""

import fcntl
import os
from pathlib import Path
from typing import Self


class FolderInUse(Exception):
    """Another process works on this data folder."""


class FolderLock:
    """Holds `<folder>/lock` from `acquire()` until the process ends. Children do not inherit it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "lock"
        self._descriptor: int | None = None

    def acquire(self) -> Self:
        """Take the lock or raise `FolderInUse`, naming the process that has it."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 20).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise FolderInUse(
                f"Another Handover (process {holder}) is using {self.path.parent}. "
                "Stop it first (Ctrl-C in its window), or choose another folder with HANDOVER_DATA."
            ) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor
        return self

    def release(self) -> None:
        """Give the lock back before the process ends."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
