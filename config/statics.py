"""Static files: named after their content, collected only when one of them changed, and served whole.

Hashing and compressing them all takes seconds, so a start that finds nothing changed leaves them as they are.
"""

import fcntl
import hashlib
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # whitenoise is untyped
    """Files under names that carry their content's hash, so that browsers may keep them for ever.

    Also renames what ES modules import, so that a new page never runs an old module.
    """

    support_js_module_import_aggregation = True


class WholeFiles(WhiteNoiseMiddleware):  # type: ignore[misc] # whitenoise is untyped
    """Serves each file in one piece: under ASGI Django would read a streamed one into memory anyway, and warn."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """Return the file, or "not modified", with whitenoise's headers."""
        found = static_file.get_response(request.method, request.META)
        with found.file or io.BytesIO() as file:
            answer = HttpResponse(file.read(), status=int(found.status))
        del answer["Content-Type"]
        for name, value in found.headers:
            answer[name] = value
        return answer


def collect_when_changed() -> bool:
    """Run `collectstatic` unless nothing changed since the last time; return whether it ran."""
    root = Path(settings.STATIC_ROOT)
    stamp = root / ".collected"
    with _alone_in(root):
        now = fingerprint()
        if stamp.exists() and stamp.read_text() == now:
            return False
        _remove_all_but_the_last_version(root)
        call_command("collectstatic", interactive=False, verbosity=0)
        stamp.write_text(now)
    return True


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Wait for whoever else collects into this folder: two units of one machine that prepare at once would take away each other's files."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # the kernel gives it back when its holder dies
        yield
    finally:
        os.close(descriptor)


def _remove_all_but_the_last_version(root: Path) -> None:
    """Leave what the pages of the version before ask for: its processes serve until they are restarted, and a page until it is left.

    Those names carry their content. All others go: `collectstatic` would take an older file of another version for unchanged.
    """
    manifest = root / HashedStaticFilesStorage.manifest_name
    names = json.loads(manifest.read_text())["paths"] if manifest.exists() else {}
    kept = {str(root / hashed) for name, hashed in names.items() if hashed != name} | {str(manifest)}
    for file in root.rglob("*"):
        if file.is_file() and str(file).removesuffix(".gz") not in kept:
            file.unlink()


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
