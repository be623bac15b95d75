"""Attachments in a folder of this machine: what was answered for is on the disk, not only in the kernel's memory."""

import os
from pathlib import Path
from typing import Any

from django.core.files.storage import FileSystemStorage


class DurableFolder(FileSystemStorage):
    """Django's storage in the file system, with the file and the folders that lead to it flushed before `save` returns."""

    def _save(self, name: str, content: Any) -> str:
        saved: str = super()._save(name, content)  # type: ignore[misc]  # Django's own hook, which the stubs leave out
        path, root = Path(self.path(saved)), Path(self.location)
        folders = [folder for folder in path.parents if folder == root or root in folder.parents]
        for place in (path, *folders, root.parent):
            _flush(place)
        return saved


def _flush(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
