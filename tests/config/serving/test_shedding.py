"""What a crowd is told without a look at what it says: the same as ever, and only where it is beyond doubt where a request ends."""

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from hypothesis import given
from hypothesis import strategies as st

from config import asgi
from config.admission.tiers import Tier
from config.serving.corked import Headers
from config.serving.express import ExpressHttp, Piece
from config.serving.shedding import Refusals, is_plainly_whole
from exams.gate.admission import Limits
from exams.gate.asgi import Gate, list_refusals
from exams.gate.durability import LocalDurability
from tests.overload.here import serving_here, until
from tests.overload.shed import count_shed_so_far
from tests.pieces import BODY, PATH, request

NOT_PLAIN = {
    "the last byte is missing": request()[:-1],
    "cut in the head": request()[:40],
    "one byte of another": request() + b"P",
    "two": request() + request(),
    "HTTP/1.0": request(version="1.0"),
    "the last on its connection": request(head="Connection: close\r\n"),
    "wants another protocol": request(head="Connection: keep-alive, Upgrade\r\nUpgrade: h2c\r\n"),
    "with a query": request(f"{PATH}?x=1"),
    "absolute address": request(f"http://a{PATH}"),
    "another method": request(method="PUT"),
    "another address": request("/api/v1/attempts/x/draft"),
    "two lengths": request(head="Content-Length: 3\r\n"),
    "a length with a comma": request(head="X: y\r\n").replace(b"Length: 15", b"Length: 15, 15"),
    "no length": request().replace(b"Content-Length", b"Content-Longth"),
    "a length in another header": request().replace(b"\r\nContent-Length: 15", b"\r\nX-Content-Length: 15"),
    "chunked": request(head="Transfer-Encoding: chunked\r\n").replace(b"Content-Length: 15\r\n", b""),
    "smuggled": request(head="Transfer-Encoding : chunked\r\n"),
    "garbage": b"POST /api/v1/attempts/\x00",
    "nothing": b"",
}


@pytest.mark.parametrize("data", NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_piece_that_is_not_beyond_doubt_goes_the_long_way(data: bytes) -> None:
    assert not is_plainly_whole(data)


@pytest.mark.parametrize(
    "head",
    ["", "Connection: keep-alive\r\n", "content-TYPE: application/json\r\n", "Expect: 100-continue\r\n"],
)
def test_plain_submission_is_recognised_in_any_case(head: str) -> None:
    assert is_plainly_whole(request(head=head))
    assert is_plainly_whole(request(head=head).replace(b"Content-Length", b"content-length"))


@given(
    lines=st.lists(
        st.sampled_from(
            [
                *("Connection: keep-alive", "Connection: close", "connection: Upgrade", "Upgrade: websocket"),
                *("Content-Length: 15", "Content-Length: 0", "Content-Length:15", "content-length: +15"),
                *("Transfer-Encoding: chunked", "transfer-encoding: identity", "TE: trailers"),
                *("Host: a", "Authorization: Bearer x", "X: Content-Length: 15", "Expect: 100-continue"),
            ]
        ),
        max_size=5,
    ),
    rest=st.sampled_from([BODY, b"", BODY[:-1], BODY + b"\r\n", BODY + request(), b"0\r\n\r\n"]),
)
def test_what_is_recognised_by_its_bytes_ends_where_the_parser_says(lines: list[str], rest: bytes) -> None:
    data = "\r\n".join([f"POST {PATH} HTTP/1.1", *lines, "", ""]).encode() + rest

    assert not is_plainly_whole(data) or EveryPiece().read(data)


class EveryPiece(Piece):
    """What the parser takes for one whole submission that leaves its connection as it is, whatever else the head wishes for."""

    def on_headers_complete(self) -> None:
        self.head = {}
        super().on_headers_complete()


@contextlib.asynccontextmanager
async def crowded(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """Serve a gate whose line is full from the beginning; yield its port."""
    gate = Gate(durability=LocalDurability(), limits=Limits(waiting=0))
    gate.take_whole("", {}, b"", lambda _: None)  # opens it
    monkeypatch.setattr(asgi, "take_whole", gate.take_whole)
    monkeypatch.setattr(asgi, "is_full", gate.is_full)
    async with serving_here(gate, port=0, http=ExpressHttp) as server:
        yield server.servers[0].sockets[0].getsockname()[1]
    await gate.close()


async def read_answer(reader: asyncio.StreamReader) -> bytes:
    """Read an answer; its moment and its wait differ from one to the next."""
    async with asyncio.timeout(20):
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        assert length is not None
        body = await reader.readexactly(int(length[1]))
    head = re.sub(rb"date: [^\r]+GMT\r", b"date: now\r", head)
    return re.sub(rb"retry-after: [1-5]\r", b"retry-after: some\r", head) + body


async def ask(port: int, *pieces: bytes) -> bytes:
    """Send a request in these pieces and return its answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0.05)  # so that each piece is a read of its own
    try:
        return await read_answer(reader)
    finally:
        writer.close()


def test_crowd_is_told_the_same_byte_for_byte_whichever_way_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    ready_made: list[bytes] = []
    draw = Refusals.draw

    def note(self: Refusals, headers: Headers) -> bytes:
        ready_made.append(draw(self, headers))
        return ready_made[-1]

    monkeypatch.setattr(Refusals, "draw", note)
    parsed = request(head="Transfer-Encoding: chunked\r\n", body=b"0\r\n\r\n").replace(
        b"Content-Length: 5\r\n", b""
    )

    async def run() -> tuple[bytes, bytes, bytes]:
        async with crowded(monkeypatch) as port:
            return (
                await ask(port, request()),
                await ask(port, parsed),
                await ask(port, request()[:50], request()[50:]),
            )

    by_its_bytes, by_the_parser, by_uvicorn = async_to_sync(run)()

    assert len(ready_made) == 1
    assert by_its_bytes.startswith(b"HTTP/1.1 503 Service Unavailable\r\ndate: now\r\n")
    assert b"\r\nretry-after: some\r\n" in by_its_bytes
    assert by_its_bytes == by_the_parser == by_uvicorn


def test_every_refusal_is_counted_and_waits_are_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    before = count_shed_so_far(Tier.SUBMIT)
    refusals = Refusals(list_refusals())
    now, later = [(b"date", b"now")], [(b"date", b"later")]

    async def run() -> tuple[list[bytes], list[bytes]]:
        drawn = [refusals.draw(now) for _ in range(300)], [refusals.draw(later) for _ in range(300)]
        await asyncio.sleep(0)
        return drawn

    first, second = async_to_sync(run)()

    assert count_shed_so_far(Tier.SUBMIT) == before + 600
    assert {re.findall(rb"date: (\w+)\r.*retry-after: (\d)\r", each, re.DOTALL)[0] for each in first} == {
        (b"now", b"%d" % seconds) for seconds in range(1, 6)
    }
    assert all(b"date: later\r" in each for each in second)


@pytest.fixture
def protocols(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The server's ends of all connections, each with as little room in the kernel as it gives."""
    found: list[Any] = []
    made = ExpressHttp.connection_made

    def note(self: ExpressHttp, transport: Any) -> None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        found.append(self)
        made(self, transport)

    monkeypatch.setattr(ExpressHttp, "connection_made", note)
    return found


def test_whoever_reads_no_refusals_is_not_read_until_they_are_read_and_then_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch, protocols: list[Any]
) -> None:
    async def run() -> tuple[int, int]:
        async with crowded(monkeypatch) as port:
            wire = socket.socket()
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            wire.connect(("127.0.0.1", port))
            reader, writer = await asyncio.open_connection(sock=wire, limit=1024)
            await until(lambda: protocols)
            (end,) = protocols
            sent = 0
            while not end.flow.write_paused and sent < 5_000:
                if sent == end.server_state.total_requests:  # the last one was read: no two in one piece
                    writer.write(request())
                    sent += 1
                await asyncio.sleep(0)
            held = end.transport.get_write_buffer_size()
            writer.write(request())  # is not read now
            for _ in range(sent + 1):
                await read_answer(reader)
            writer.close()
            return sent, held

    sent, held = async_to_sync(run)()

    assert 100 < sent < 5_000
    assert 64 * 1024 < held < 66 * 1024
