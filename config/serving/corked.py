"""An HTTP answer in one packet: what the protocol writes in one turn of the event loop goes to the socket together.

uvicorn writes the head and the body of an answer separately, and uvloop makes a system call of each: two packets, and two
wake-ups of whoever waits at the other end.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from exams.gate.responses import Response

Headers = Sequence[tuple[bytes, bytes]]


def write_response(response: Response, server_headers: Headers, *, closes: bool = False) -> bytes:
    """Return a whole answer as it goes over the wire."""
    lines = [b": ".join(header) for header in (*server_headers, *response.headers)]
    if closes:
        lines.append(b"connection: close")
    return STATUS_LINE[response.status] + b"\r\n".join((*lines, b"", response.body))


class CorkedTransport:
    """A transport that holds what is written until the turn is over; in everything else it is the one it stands for."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Write at the end of this turn."""
        if not self._held:
            self._loop.call_soon(self._let_go)
        self._held.append(data)

    def write_now(self, data: bytes) -> None:
        """Write what is held, and this."""
        if self._held:
            self._let_go()
        self._transport.write(data)

    def close(self) -> None:
        """Write what is held, then close."""
        self._let_go()
        self._transport.close()

    def _let_go(self) -> None:
        held, self._held = self._held, []
        if held and not self._transport.is_closing():
            self._transport.write(held[0] if len(held) == 1 else b"".join(held))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
