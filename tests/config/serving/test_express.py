"""The express lane takes a submission that is whole, plain and alone, and gives everything else to uvicorn untouched."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import uvicorn
from asgiref.sync import async_to_sync

from config import asgi
from config.serving.express import ExpressHttp, Piece
from exams.gate.responses import Response
from tests.pieces import BODY, PATH, request

QUIET: dict[str, Any] = {"lifespan": "off", "log_level": "error", "interface": "asgi3"}


def test_piece_is_one_whole_submission() -> None:
    piece = Piece()

    assert piece.read(request(head="Authorization: Bearer x\r\n"))

    assert piece.url.decode() == PATH
    assert piece.head == {b"host": b"a", b"content-length": b"15", b"authorization": b"Bearer x"}
    assert piece.body == BODY


def test_piece_may_be_chunked_as_long_as_it_is_whole() -> None:
    piece = Piece()

    assert piece.read(
        request(head="Transfer-Encoding: chunked\r\n", body=b'2\r\n{"\r\n3\r\na":\r\n2\r\n1}\r\n0\r\n\r\n')
    )

    assert piece.body == b'{"a":1}'


def test_piece_is_read_again_and_again() -> None:
    piece = Piece()

    assert [piece.read(request(body=body)) and piece.body for body in (b"1", b"22", b"")] == [
        b"1",
        b"22",
        b"",
    ]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(request()[:-1], id="the last byte is missing"),
        pytest.param(request()[:40], id="cut in the head"),
        pytest.param(request() + b"P", id="one byte of another"),
        pytest.param(request() + request(), id="two"),
        pytest.param(request(version="1.0"), id="HTTP/1.0"),
        pytest.param(request(head="Connection: close\r\n"), id="the last on its connection"),
        pytest.param(request(head="Expect: 100-continue\r\n"), id="expects an answer to its head"),
        pytest.param(
            request(head="Connection: upgrade\r\nUpgrade: websocket\r\n"), id="wants another protocol"
        ),
        pytest.param(request(f"{PATH}?x=1"), id="with a query"),
        pytest.param(request(f"http://a{PATH}"), id="absolute address"),
        pytest.param(request(PATH.replace("submission", "submissio%6e")), id="escaped address"),
        pytest.param(request(method="PUT"), id="another method"),
        pytest.param(request("/api/v1/attempts/x/draft"), id="another address"),
        pytest.param(request(head="Content-Length: 3\r\n"), id="two lengths"),
        pytest.param(request(head="Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), id="smuggled"),
        pytest.param(b"POST /api/v1/attempts/\x00", id="garbage"),
    ],
)
def test_piece_is_nothing_else(data: bytes) -> None:
    assert not Piece().read(data)


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop turn until something is so."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - nothing announces these conditions
            await asyncio.sleep(0)


class Lane:
    """A real server whose gate answers when the test says so, and whose other addresses are answered by uvicorn's way."""

    def __init__(self) -> None:
        self.respond: list[Callable[[Response], None]] = []
        self.server: uvicorn.Server
        self.port = 0

    def take_whole(self, path: str, head: dict[bytes, bytes], body: bytes, respond: Any) -> None:
        self.respond.append(respond)

    def answer(self, body: bytes) -> None:
        self.respond.pop(0)(Response(202, [(b"content-length", b"%d" % len(body))], body))

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        body = b"uvicorn " + scope["method"].encode()
        head = [(b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": body})

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        config = uvicorn.Config(self.application, http=ExpressHttp, port=0, **QUIET)
        self.server = uvicorn.Server(config)
        self.server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]  # the test's own stay
        task = asyncio.create_task(self.server.serve())
        await until(lambda: self.server.started)
        port = self.server.servers[0].sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield reader, writer
        finally:
            writer.close()
            self.server.should_exit = True
            await task

    async def until_asked(self, times: int = 1) -> None:
        await until(lambda: len(self.respond) >= times)


@pytest.fixture
def lane(monkeypatch: pytest.MonkeyPatch) -> Lane:
    lane = Lane()
    monkeypatch.setattr(asgi, "take_whole", lane.take_whole)
    return lane


async def read_answer(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    async with asyncio.timeout(10):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.split("content-length: ")[1].split("\r\n")[0])
        return head, await reader.readexactly(length)


def test_answer_comes_on_the_same_connection_with_the_servers_own_headers(lane: Lane) -> None:
    async def run() -> list[tuple[str, bytes]]:
        answers = []
        async with lane.serving() as (reader, writer):
            for body in (b"one", b"two"):
                writer.write(request())
                await lane.until_asked()
                lane.answer(body)
                answers.append(await read_answer(reader))
        return answers

    first, second = async_to_sync(run)()

    assert (first[1], second[1]) == (b"one", b"two")
    assert first[0].startswith("http/1.1 202 accepted\r\n")
    assert "date: " in first[0]


def test_request_cut_in_two_goes_the_other_way(lane: Lane) -> None:
    async def run() -> bytes:
        async with lane.serving() as (reader, writer):
            writer.write(request()[:50])
            await writer.drain()
            await asyncio.sleep(0.05)  # so that the halves are two reads
            writer.write(request()[50:])
            return (await read_answer(reader))[1]

    assert async_to_sync(run)() == b"uvicorn POST"
    assert lane.respond == []


def test_body_that_looks_like_a_submission_is_a_body(lane: Lane) -> None:
    async def run() -> bytes:
        async with lane.serving() as (reader, writer):
            inner = request()
            writer.write(request("/api/v1/other", body=inner)[: -len(inner)])
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.write(inner)
            return (await read_answer(reader))[1]

    assert async_to_sync(run)() == b"uvicorn POST"
    assert lane.respond == []


def test_both_ways_take_turns_on_one_connection_and_answers_keep_their_order(lane: Lane) -> None:
    async def run() -> list[bytes]:
        async with lane.serving() as (reader, writer):
            writer.write(request())
            await lane.until_asked()
            writer.write(request(method="GET", body=b""))  # the client does not wait for its answer
            await asyncio.sleep(0.05)
            lane.answer(b"first")
            answers = [(await read_answer(reader))[1] for _ in range(2)]
            writer.write(request())
            await lane.until_asked()
            lane.answer(b"third")
            return [*answers, (await read_answer(reader))[1]]

    assert async_to_sync(run)() == [b"first", b"uvicorn GET", b"third"]


async def send_without_end(writer: asyncio.StreamWriter, piece: bytes) -> None:
    """Send until the other end closes; fail when it has taken far more than a read or two."""
    with contextlib.suppress(ConnectionError):
        for _ in range(64 * 1024 * 1024 // len(piece)):
            writer.write(piece)
            await writer.drain()
        pytest.fail("64 MiB were taken.")


def test_head_without_an_end_is_not_kept(lane: Lane) -> None:
    """uvicorn keeps all of a head: a few such connections would take all the memory there is."""

    async def run() -> None:
        for piece in (b"X-A: " + b"a" * 1000 + b"\r\n", b"a" * 1024):
            async with lane.serving() as (_, writer):
                writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nX-B: ")
                await send_without_end(writer, piece * 64)

    async_to_sync(run)()


def test_head_without_an_end_is_told_why(lane: Lane) -> None:
    async def run() -> bytes:
        async with lane.serving() as (reader, writer):
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n")
            writer.write((b"X-A: " + b"a" * 14_000 + b"\r\n") * 5)  # more than is taken, and nothing after it
            return await reader.read()

    head = async_to_sync(run)().lower()
    assert head.startswith(b"http/1.1 431 ")
    assert b"connection: close\r\n" in head


def test_lines_behind_a_chunked_body_are_no_part_of_the_head_and_have_an_end(lane: Lane) -> None:
    told: list[list[bytes]] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        told.append([name for name, _ in scope["headers"]])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    lane.application = application  # type: ignore[method-assign]
    chunked = request("/api/v1/other", head="Transfer-Encoding: chunked\r\n", body=b"")

    async def run() -> None:
        async with lane.serving() as (reader, writer):
            writer.write(chunked + b"2\r\n{}\r\n0\r\nCookie: sessionid=1\r\n\r\n")
            await read_answer(reader)
        async with lane.serving() as (_, writer):
            writer.write(chunked + b"2\r\n{}\r\n0\r\n")
            await send_without_end(writer, b"X-A: " + b"a" * 60_000 + b"\r\n")

    async_to_sync(run)()
    assert told[0] == [b"host", b"transfer-encoding"]


def test_piece_has_no_lines_from_behind_its_body() -> None:
    piece = Piece()

    assert piece.read(
        request(
            head="Transfer-Encoding: chunked\r\nAuthorization: Bearer x\r\n",
            body=b"2\r\n{}\r\n0\r\nAuthorization: Bearer y\r\n\r\n",
        )
    )

    assert piece.head[b"authorization"] == b"Bearer x"


def test_large_body_is_no_head(lane: Lane) -> None:
    async def run() -> bytes:
        body = b"a" * 300_000
        async with lane.serving() as (reader, writer):
            writer.write(request("/api/v1/other", body=body)[: -len(body)])
            for start in range(0, len(body), 10_000):
                writer.write(body[start : start + 10_000])
                await writer.drain()
            return (await read_answer(reader))[1]

    assert async_to_sync(run)() == b"uvicorn POST"


def test_server_that_stops_answers_first_what_it_has_accepted(lane: Lane) -> None:
    async def run() -> tuple[tuple[str, bytes], bytes]:
        async with lane.serving() as (reader, writer):
            writer.write(request())
            await lane.until_asked()
            lane.server.should_exit = True
            await asyncio.sleep(0.3)  # uvicorn looks ten times a second
            lane.answer(b"receipt")
            return await read_answer(reader), await reader.read()

    (head, body), rest = async_to_sync(run)()

    assert "connection: close" in head
    assert (body, rest) == (b"receipt", b"")


def test_client_that_is_gone_is_not_written_to(lane: Lane) -> None:
    async def run() -> None:
        async with lane.serving() as (_, writer):
            writer.write(request())
            await lane.until_asked()
            writer.transport.abort()
            await until(lambda: not lane.server.server_state.connections)
            lane.answer(b"nobody listens")

    async_to_sync(run)()
