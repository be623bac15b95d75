"""Connections that only hold on, or come drop by drop, against those that hand something in: counts, on real sockets."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from config.serving import express
from config.serving.express import ExpressHttp
from config.serving.workers import raise_open_files
from exams.models import Attempt
from tests import factories
from tests.overload.here import serving_here, until
from tests.posting import Poster, sitting_of
from tests.serving import serving

pytestmark = pytest.mark.process


@contextlib.contextmanager
def holding(port: int, number: int, begun: bytes = b"") -> Iterator[list[socket.socket]]:
    """Hold so many connections open, each with the beginning of a request or nothing at all."""
    with contextlib.ExitStack() as until_the_end:
        held = [
            until_the_end.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            for _ in range(number)
        ]
        for each in held:
            each.sendall(begun)
        yield held


@pytest.fixture
def attempts(transactional_db: None) -> list[Attempt]:
    """Open attempts of several students."""
    return [factories.attempt() for _ in range(20)]


def test_thousand_idle_connections_and_a_hundred_slow_ones_stop_no_submission(
    attempts: list[Attempt], process_environment: dict[str, str]
) -> None:
    raise_open_files()
    body = b"PUT /api/v1/attempts/x/draft HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"
    with (
        serving(process_environment) as server,
        holding(server.port, 1000),
        holding(server.port, 50, b"GET /exams/ HTTP/1.1\r\nHo"),
        holding(server.port, 50, body),
        Poster(server.port) as poster,
    ):
        answers = [poster.hand_in(sitting_of(attempt), {"q1": "a"}).status for attempt in attempts]

    assert answers == [202] * len(attempts)


@pytest.fixture
def few_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that lets us open hardly any file."""
    monkeypatch.setattr(ExpressHttp, "most_connections", 3)


def test_connections_that_only_hold_on_go_for_new_ones_and_busy_ones_stay(few_connections: None) -> None:
    go_on = asyncio.Event()
    inside: list[str] = []

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        inside.append(scope["path"])
        async with asyncio.timeout(20):
            await go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async def tell() -> tuple[list[bytes], bytes]:
        async with serving_here(slow, port=0, http=ExpressHttp) as server:
            port = server.servers[0].sockets[0].getsockname()[1]
            busy = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            for _, writer in busy:
                writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            await until(lambda: len(inside) == 2)
            idle, idler = await asyncio.open_connection("127.0.0.1", port)
            _, newest = await asyncio.open_connection("127.0.0.1", port)
            newest.write(b"GET /new HTTP/1.1\r\nHost: a\r\n\r\n")
            await until(lambda: "/new" in inside)
            given_up = await idle.read()
            go_on.set()
            heads = [await reader.readline() for reader, _ in busy]
            for writer in (idler, newest, *(writer for _, writer in busy)):
                writer.close()
            return heads, given_up

    assert async_to_sync(tell)() == ([b"HTTP/1.1 200 OK\r\n"] * 2, b"")


def test_connection_that_never_asks_and_a_head_that_never_ends_are_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(express, "_HEAD_SECONDS", 0.05)

    async def never(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("nobody asked for anything")

    async def tell() -> list[bytes]:
        async with serving_here(never, port=0, http=ExpressHttp, timeout_keep_alive=0.05) as server:
            port = server.servers[0].sockets[0].getsockname()[1]
            ends = []
            for begun in (b"", b"GET / HTTP/1.1\r\nHos"):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(begun)
                async with asyncio.timeout(20):
                    ends.append(await reader.read())
                writer.close()
            return ends

    assert async_to_sync(tell)() == [b"", b""]
