"""A wire to PostgreSQL that can be cut after the server has done its work and before the answer is through."""

import contextlib
import select
import socket
import threading
from pathlib import Path

from config.postgres.place import SOCKET_NAME


class CutWire:
    """Listens on a Unix socket in `folder` and forwards to the server's own.

    While `cuts` is not 0, the next thing the server says is swallowed instead, and both ends are hung up. `is_shut` lets
    nobody in any more, but does not disturb whoever is.
    """

    def __init__(self, server: Path, folder: Path) -> None:
        self.folder = folder
        self.cuts = 0
        self.swallowed = 0
        self.is_shut = False
        self._server = str(server / SOCKET_NAME)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / SOCKET_NAME))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.is_shut:
                    client.close()
                    continue
                threading.Thread(target=self._forward, args=[client], daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, contextlib.suppress(OSError):
            server.connect(self._server)
            while True:
                readable, _, _ = select.select([client, server], [], [])
                if client in readable:
                    server.sendall(client.recv(65536) or _end())
                    continue
                answer = server.recv(65536) or _end()
                if self.cuts > 0:
                    self.cuts -= 1
                    self.swallowed += 1
                    return
                client.sendall(answer)


def _end() -> bytes:
    raise ConnectionError
