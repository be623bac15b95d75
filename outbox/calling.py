"""One HTTP request to somebody else's server, bounded in every way: where to, how long in all, and how much is read of the answer.

httpcore is used without httpx, because only it lets us connect to the address we judged (`outbox.addresses`) and bound the whole
exchange: a server that sends a byte now and then never runs into a time limit of one read.
"""

import dataclasses
import ssl
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

import httpcore
from django.utils import timezone

from outbox.addresses import as_uri, resolve

LONGEST_WAIT_ASKED = 86_400.0  # seconds of a Retry-After that we believe


class NoAnswer(Exception):
    """No answer came: whether the other end did anything is unknown."""


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """The status that came back, and how many seconds the other end wants to be left alone, if it said so."""

    status: int
    retry_after: float | None

    @property
    def is_success(self) -> bool:
        """Whether it is a 2xx."""
        return 200 <= self.status < 300  # noqa: PLR2004 - RFC 9110, 15.3


def post(
    url: str, *, body: bytes, headers: Mapping[str, str], seconds: float, private: bool = False
) -> Answer:
    """Send the body and return the answer's status; its body is not read, and no redirect is followed.

    Raises `ForbiddenAddress`, or `NoAnswer` after `seconds` in all, a refused connection, bad TLS and the like.
    """
    backend = _Backend(until=time.monotonic() + seconds, private=private)
    sent = [(name.encode(), value.encode()) for name, value in {**headers, "Connection": "close"}.items()]
    limits = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), seconds)}
    try:
        with (
            httpcore.ConnectionPool(ssl_context=_trusted(), network_backend=backend) as pool,
            pool.stream("POST", as_uri(url), headers=sent, content=body, extensions=limits) as response,
        ):
            return Answer(response.status, _read_retry_after(response.headers))
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError) as error:
        raise NoAnswer(f"{type(error).__name__}: {error}") from error


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()


def _read_retry_after(headers: Iterable[tuple[bytes, bytes]]) -> float | None:
    """Read Retry-After: seconds, or a date (RFC 9110, 10.2.3). Nonsense is as good as nothing."""
    text = next((value.decode("latin-1") for name, value in headers if name.lower() == b"retry-after"), None)
    if text is None:
        return None
    try:
        seconds = (
            float(text)
            if text.isdecimal()
            else (parsedate_to_datetime(text) - timezone.now()).total_seconds()
        )
    except (ValueError, TypeError):
        return None
    return min(max(0.0, seconds), LONGEST_WAIT_ASKED)


class _Backend(httpcore.SyncBackend):
    """Connects to judged addresses, and to nothing after the time is over."""

    def __init__(self, *, until: float, private: bool) -> None:
        self._until = until
        self._private = private

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the address that was judged."""
        address = resolve(host, port, private=self._private)
        stream = super().connect_tcp(address, port, _left(self._until), local_address, socket_options)
        return _Stream(stream, self._until)


class _Stream(httpcore.NetworkStream):
    """A stream whose every wait ends with the time for the whole exchange."""

    def __init__(self, inner: httpcore.NetworkStream, until: float) -> None:
        self._inner = inner
        self._until = until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read within what is left of the time."""
        return self._inner.read(max_bytes, _left(self._until))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write within what is left of the time."""
        self._inner.write(buffer, _left(self._until))

    def close(self) -> None:
        """Close."""
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Shake hands within what is left of the time; the certificate is verified against the name."""
        inner = self._inner.start_tls(ssl_context, server_hostname, _left(self._until))
        return _Stream(inner, self._until)

    def get_extra_info(self, info: str) -> Any:
        """Pass on what httpcore asks about the socket."""
        return self._inner.get_extra_info(info)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("The exchange took too long.")
    return left
