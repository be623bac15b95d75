"""A server that answers as a script says, over real sockets, and remembers what it was sent."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from config.rehearsal.wire import Address

Script = Callable[[bytes, int], bytes | None]  # the request, and how many came before it; None hangs up


def answer(status: int, body: str = "{}", **headers: str) -> bytes:
    """Write an answer."""
    lines = [
        f"HTTP/1.1 {status} Said",
        f"Content-Length: {len(body)}",
        *(f"{k.replace('_', '-')}: {v}" for k, v in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


class Scripted:
    """The server; `requests` is what arrived whole, `connections` how many were opened."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.requests: list[bytes] = []
        self.connections = 0
        self.address = Address("127.0.0.1", 0, tls=False, name="")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = next(
                    int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")
                )
                body = await reader.readexactly(size)
                said = self._script(body, len(self.requests))
                self.requests.append(head + body)
                if said is None:
                    break
                writer.write(said)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@contextmanager
def scripted(script: Script) -> Iterator[Scripted]:
    """Run such a server for the length of the block, on a loop and thread of its own."""
    server = Scripted(script)
    loop = asyncio.new_event_loop()
    listening = loop.run_until_complete(asyncio.start_server(server.serve, "127.0.0.1", 0))
    port = listening.sockets[0].getsockname()[1]
    server.address = Address.parse(f"http://127.0.0.1:{port}")
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        listening.close()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
