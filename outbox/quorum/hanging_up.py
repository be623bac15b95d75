"""Nothing in PostgreSQL bounds the wait for a standby: no timeout ends it, and cancelling it is an acknowledgement.

So a thread hangs up instead. The server's session goes on waiting by itself, the row stays invisible until a standby has it
(ADR 0011), and whoever waited here learns what is true: the connection is lost, the outcome unknown.
"""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator

import psycopg

_LOOK_SECONDS = 0.25


class Bounds:
    """Ends calls that take too long, by shutting down their connection's socket. One thread, started with the first call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._due: dict[psycopg.Connection, float] = {}
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def hang_up_after(self, seconds: float, connection: psycopg.Connection) -> Iterator[None]:
        """Hang up if the block takes longer than this; its call then raises `psycopg.OperationalError`."""
        if self._thread is None:
            self._start()
        with self._lock:
            self._due[connection] = time.monotonic() + seconds
        try:
            yield
        finally:
            with self._lock:
                del self._due[connection]

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="quorum-bounds", daemon=True)
                self._thread.start()

    def _watch(self) -> None:
        while True:
            time.sleep(_LOOK_SECONDS)
            now = time.monotonic()
            with self._lock:  # while it is held, no call can end and give its descriptor to somebody else
                for connection, due in self._due.items():
                    if due < now:
                        _hang_up(connection)


def _hang_up(connection: psycopg.Connection) -> None:
    with (
        contextlib.suppress(psycopg.Error, OSError),
        socket.socket(fileno=os.dup(connection.pgconn.socket)) as wire,
    ):
        wire.shutdown(socket.SHUT_RDWR)


bounds = Bounds()
