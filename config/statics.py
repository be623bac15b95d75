"""Collecting the static files only when one of them changed: hashing and compressing them all takes seconds."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def collect_when_changed() -> bool:
    """Run `collectstatic` unless nothing changed since the last time; return whether it ran."""
    stamp = Path(settings.STATIC_ROOT) / ".collected"
    now = fingerprint()
    if stamp.exists() and stamp.read_text() == now:
        return False
    call_command("collectstatic", interactive=False, verbosity=0, clear=True)
    stamp.write_text(now)
    return True


def fingerprint() -> str:
    """Return a digest over name, size and time of every static file, and over the storage that would name them."""
    digest = hashlib.sha256(settings.STORAGES["staticfiles"]["BACKEND"].encode())
    for entry in sorted(_list_files()):
        digest.update(entry.encode())
    return digest.hexdigest()


def _list_files() -> Iterator[str]:
    for finder in get_finders():
        for name, storage in finder.list([]):
            found = Path(storage.path(name)).stat()
            yield f"{name} {found.st_size} {found.st_mtime_ns}\n"
