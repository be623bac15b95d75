"""Connections of the senders: as little Python a request as HTTP allows, so that the load costs the machine less than its answer.

No Django in here: see `behaviour`.
"""

import asyncio
import ssl
from collections import deque
from typing import NamedTuple, cast
from urllib.parse import urlsplit

import httptools


class Address(NamedTuple):
    """Where to send."""

    host: str
    port: int
    tls: bool
    name: str  # as the Host header has it

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read `http://host[:port]` or `https://…`; raises ValueError."""
        parts = urlsplit(text)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path not in {"", "/"}:
            raise ValueError(f"{text!r} is not http://host:port")
        tls = parts.scheme == "https"
        return cls(parts.hostname, parts.port or (443 if tls else 80), tls, parts.netloc)

    @property
    def url(self) -> str:
        """The address as text."""
        return f"{'https' if self.tls else 'http'}://{self.name}"


class Answer(NamedTuple):
    """What came back."""

    status: int
    retry_after: float
    body: bytes


class Wire(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._waiting: asyncio.Future[Answer] | None = None
        self._transport: asyncio.Transport
        self.is_usable = False

    @classmethod
    async def open(cls, address: Address) -> "Wire":
        """Connect; raises OSError."""
        context = ssl.create_default_context() if address.tls else None
        loop = asyncio.get_running_loop()
        _, wire = await loop.create_connection(cls, address.host, address.port, ssl=context)
        return wire

    def ask(self, request: bytes) -> asyncio.Future[Answer]:
        """Send a request and return its answer to come; ConnectionError when there will be none."""
        waiting = self._waiting = asyncio.get_running_loop().create_future()
        self.write(request)
        return waiting

    def write(self, data: bytes) -> None:
        """Send a piece."""
        self._transport.write(data)

    def close(self) -> None:
        """Send what is to be sent, and hang up."""
        self.is_usable = False
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one by its methods only
        self.is_usable = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell who waits."""
        self.is_usable = False
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(ConnectionError("The server hung up."))

    def data_received(self, data: bytes) -> None:
        """Read on."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.close()

    def on_message_begin(self) -> None:
        """Begin an answer."""
        self._retry_after, self._body = 0.0, b""

    def on_header(self, name: bytes, value: bytes) -> None:
        """Look for the one header that matters; a date instead of seconds is not among what a Handover sends."""
        if name.lower() == b"retry-after" and value.isdigit():
            self._retry_after = float(value)

    def on_body(self, body: bytes) -> None:
        """Take a part."""
        self._body += body

    def on_message_complete(self) -> None:
        """Give the answer to who waits."""
        self.is_usable = self._parser.should_keep_alive()
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(Answer(self._parser.get_status_code(), self._retry_after, self._body))


class Pool:
    """Connections that are kept, as the proxy in front of a gate keeps them. Who finds none free waits for one."""

    def __init__(self, address: Address, *, most: int, seconds: float) -> None:
        self._address = address
        self._seconds = seconds
        self._free: deque[Wire] = deque()
        self._room = asyncio.Semaphore(most)

    async def ask(self, request: bytes) -> Answer:
        """Send over a free connection, and keep it if it still can be used. Raises OSError when no answer comes in time.

        The time a request waits here for a connection is not the server's.
        """
        async with self._room, asyncio.timeout(self._seconds):
            wire = self._find_free() or await Wire.open(self._address)
            try:
                answer = await wire.ask(request)
            except BaseException:
                wire.close()
                raise
            self._free.append(wire)
            return answer

    def close(self) -> None:
        """Hang up everywhere."""
        for wire in self._free:
            wire.close()

    def _find_free(self) -> Wire | None:
        while self._free:
            wire = self._free.pop()
            if wire.is_usable:
                return wire
            wire.close()
        return None
