"""Hands requests on to another pool of processes over its Unix socket, and the answers back, a piece at a time.

The pool sees what we would have seen: the address, every header but those of the connection itself, and, in one header that only we
can write, who the client is and how it came (`read_peer`). A pool that is away or frozen costs its callers an answer, and nobody else.
"""

import hashlib
import hmac
import logging
from collections.abc import AsyncIterator

import httpcore
from django.conf import settings

from config.admission.door import Message, Receive, Scope, Send
from config.admission.tiers import SAFE_METHODS
from exams.errors import Malformed, OutcomeUnknown
from exams.gate.admission import draw_retry_after, overloaded
from exams.gate.reading import ClientGone

Header = tuple[bytes, bytes]

_PEER = b"x-handover-peer"
_CONNECTION_HEADERS = {
    *(b"connection", b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"proxy-authorization"),
    *(b"te", b"trailer", b"transfer-encoding", b"upgrade"),
}
_OURS_ALONE = {_PEER, b"expect", b"content-length"}  # written anew, or already answered
_WITHOUT_BODY = {204, 304}
_NEVER_ARRIVED = (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.PoolTimeout)
_IDLE_SECONDS = (
    10.0  # shorter than the pool keeps a connection, so that we never write into one it is closing
)

log = logging.getLogger(__name__)


class Forwarder:
    """The ASGI application that stands for a pool. `most`: connections at once; `seconds`: until the answer begins, and between its pieces."""

    def __init__(self, socket: str, *, most: int, seconds: float = 60.0) -> None:
        self._socket = socket
        self._most = most
        self._timeouts = {"pool": 1.0, "connect": 2.0, "write": 20.0, "read": seconds}
        self._connections: httpcore.AsyncConnectionPool | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; raises `Overloaded` when it never got there, and `OutcomeUnknown` when nobody knows."""
        request = make_request(scope, await receive(), receive, timeouts=self._timeouts)
        response = await self._ask(request, is_safe=scope["method"] in SAFE_METHODS)
        try:
            await _pass_back(response, send)
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException):
            log.warning("A pool broke off in the middle of an answer.")  # and so does our caller's connection
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close the connections to the pool."""
        if self._connections is not None:
            await self._connections.aclose()

    async def _ask(self, request: httpcore.Request, *, is_safe: bool) -> httpcore.Response:
        try:
            return await self._connect().handle_async_request(request)
        except _NEVER_ARRIVED:
            raise overloaded() from None
        except httpcore.LocalProtocolError:
            raise Malformed from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException):
            if is_safe:
                raise overloaded() from None
            raise OutcomeUnknown(retry_after=draw_retry_after()) from None

    def _connect(self) -> httpcore.AsyncConnectionPool:
        if self._connections is None:  # belongs to the loop that asks first
            self._connections = httpcore.AsyncConnectionPool(
                uds=self._socket, max_connections=self._most, keepalive_expiry=_IDLE_SECONDS
            )
        return self._connections


def make_request(
    scope: Scope, first: Message, receive: Receive, *, timeouts: dict[str, float]
) -> httpcore.Request:
    """Return the request as it goes to the pool; `first` is the first message of its body."""
    declared = dict(scope["headers"])
    headers = [*list_end_to_end(scope["headers"], _OURS_ALONE), (_PEER, write_peer(scope))]
    if b"host" not in declared:
        headers.append((b"host", _describe_server(scope)))
    content: bytes | AsyncIterator[bytes] = first["body"]
    if first["more_body"]:
        content = _stream(first, receive)
        length = declared.get(b"content-length")
        headers.append((b"transfer-encoding", b"chunked") if length is None else (b"content-length", length))
    elif first["body"] or b"content-length" in declared:
        headers.append((b"content-length", b"%d" % len(first["body"])))
    query = scope["query_string"]
    target = scope["raw_path"] + (b"?" + query if query else b"")
    url = httpcore.URL(scheme=b"http", host=b"pool", port=None, target=target)
    return httpcore.Request(
        scope["method"], url, headers=headers, content=content, extensions={"timeout": timeouts}
    )


def list_end_to_end(headers: list[Header], dropped: set[bytes]) -> list[Header]:
    """Return the headers that are for whoever is at the end, without those of this connection, those it names, and the dropped ones."""
    named = {
        name.strip().lower()
        for key, value in headers
        if key.lower() == b"connection"
        for name in value.split(b",")
    }
    away = _CONNECTION_HEADERS | named | dropped
    return [(key, value) for key, value in headers if key.lower() not in away]


def write_peer(scope: Scope) -> bytes:
    """Return the header that says who the client is, as we know it, and proves that we said so."""
    host, port = scope.get("client") or ("", 0)
    return f"{_prove()} {scope.get('scheme', 'http')} {port} {host}".encode("latin-1", "replace")


def read_peer(scope: Scope) -> Scope:
    """Return the scope as the process in front had it: the client and the scheme it names, if it was one of ours."""
    headers = [header for header in scope["headers"] if header[0] != _PEER]
    said = dict(scope["headers"]).get(_PEER, b"").decode("latin-1").split(" ", 3)
    if len(said) != 4 or not hmac.compare_digest(said[0], _prove()):  # noqa: PLR2004 - the parts that `write_peer` joins
        return {**scope, "headers": headers}
    _, scheme, port, host = said
    return {**scope, "headers": headers, "scheme": scheme, "client": (host, int(port)) if host else None}


def _prove() -> str:
    return hmac.digest(settings.SECRET_KEY.encode(), b"handover.config.forward", hashlib.sha256).hex()


def _describe_server(scope: Scope) -> bytes:
    host, port = scope.get("server") or ("localhost", None)
    return f"{host}:{port}".encode() if port else str(host).encode()


async def _stream(first: Message, receive: Receive) -> AsyncIterator[bytes]:
    message = first
    while True:
        if message["type"] != "http.request":
            raise ClientGone
        if message.get("body"):
            yield message["body"]
        if not message.get("more_body", False):
            return
        message = await receive()


async def _pass_back(response: httpcore.Response, send: Send) -> None:
    dropped = {b"date"} | ({b"content-length"} if response.status in _WITHOUT_BODY else set())
    headers = list_end_to_end(response.headers, dropped)
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    async for piece in response.aiter_stream():
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
