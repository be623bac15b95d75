"""The product's web server as a real process, for tests that kill it and benchmarks that load it."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from tests.waiting import wait_until

ROOT = Path(__file__).parent.parent
PRODUCT = ("--config", "python:config.serve", "config.asgi:application")


class WebServer:
    """gunicorn on a free port of the loopback, with its worker processes."""

    def __init__(
        self, environment: Mapping[str, str], *, port: int, arguments: Sequence[str] = PRODUCT
    ) -> None:
        self.port = port
        self._command = [
            sys.executable,
            "-m",
            "gunicorn",
            *(part.replace("$PORT", str(port)) for part in arguments),
        ]
        self._environment = {**environment, "PORT": str(port), "HTTPS": "false"}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it accepts connections."""
        self.process = subprocess.Popen(self._command, cwd=ROOT, env=self._environment)
        wait_until(self._answers, seconds=60)

    def stop(self) -> None:
        """End it in an orderly way and wait for that."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=60)

    def kill(self) -> None:
        """End it and its workers with -9, the workers first: they would let the master's death end them in an orderly way."""
        assert self.process is not None
        master = psutil.Process(self.process.pid)
        master.suspend()  # or it would start others
        for process in (*master.children(), master):
            process.kill()
        self.process.wait()

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, "The web server ended at once; its words are above."
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), timeout=5) as probe,
        ):
            probe.settimeout(5)
            probe.sendall(b"GET /api/v1/receipt-keys HTTP/1.0\r\nHost: localhost\r\n\r\n")
            return probe.recv(9).startswith(b"HTTP/1.")
        return False


@contextlib.contextmanager
def serving(
    environment: Mapping[str, str] | None = None,
    *,
    workers: int | None = 1,
    arguments: Sequence[str] = PRODUCT,
) -> Iterator[WebServer]:
    """Run a web server for the length of the block, on the database of this environment; None: as many workers as the product."""
    chosen = {**(environment or os.environ)}
    # As in a container: the product says by itself whose settings it reads.
    if arguments is PRODUCT and chosen.get("DJANGO_SETTINGS_MODULE") == "config.settings":
        del chosen["DJANGO_SETTINGS_MODULE"]
    if workers is not None:
        chosen["WEB_CONCURRENCY"] = str(workers)
    server = WebServer(chosen, port=find_free_port(), arguments=arguments)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def find_free_port() -> int:
    """Return a port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
