"""Where the product that runs on this data folder listens: noted by `make run`, read by the commands beside it, which have another environment.

The note is believed while the process that wrote it lives. A number alone says nothing (the kernel gives it to somebody else), so the time
that process began is noted too; what a killed run leaves is then nobody's.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil


class Listening(NamedTuple):
    """A host and a port to reach a web process by."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """The address as text."""
        return f"http://{write_place(self.host, self.port)}"


@contextlib.contextmanager
def noted(folder: Path, *, host: str, port: int) -> Iterator[None]:
    """Note for the length of the block that this process serves this folder there."""
    me = psutil.Process(os.getpid())
    unfinished = _file(folder).with_suffix(".unfinished")
    unfinished.write_text(
        json.dumps({"host": host, "port": port, "pid": me.pid, "began": me.create_time()}), encoding="utf-8"
    )
    unfinished.replace(_file(folder))
    try:
        yield
    finally:
        _file(folder).unlink(missing_ok=True)


def find_listening(folder: Path, *, host: str, port: int) -> Listening:
    """Return where the product of this folder listens; while none runs, where these settings would have it."""
    try:
        note = json.loads(_file(folder).read_text(encoding="utf-8"))
        if psutil.Process(note["pid"]).create_time() == note["began"]:
            host, port = note["host"], note["port"]
    except (OSError, ValueError, TypeError, KeyError, psutil.Error):
        pass  # none, or one that a killed run has left
    return Listening(reachable(host), port)


def reachable(host: str) -> str:
    """Return a name to reach a server by that listens on this address."""
    if host in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    return host


def write_place(host: str, port: int) -> str:
    """Return both as a URL has them, and whoever binds: an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _file(folder: Path) -> Path:
    return folder / "address.json"
