"""Handing on to a pool over a real socket: what goes there, what comes back, and what happens when it does not."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgiref.sync import async_to_sync

from config.admission.door import Application, Door, Lane
from config.admission.forward import Forwarder, list_end_to_end, read_peer
from config.admission.slots import Slots
from config.admission.tiers import Tier
from config.serving.express import ExpressHttp
from tests.overload.here import serving_here, until
from tests.overload.shed import count_shed_so_far

Visit = Callable[[httpx.AsyncClient], Awaitable[Any]]


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with what came, as a pool sees it."""
    scope, body, more = read_peer(scope), b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    seen = {
        "method": scope["method"],
        "path": scope["path"],
        "query": scope["query_string"].decode(),
        "client": scope["client"],
        "scheme": scope["scheme"],
        "headers": sorted([name.decode(), value.decode()] for name, value in scope["headers"]),
        "body": body.decode(),
    }
    answer = json.dumps(seen).encode()
    head = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
    head += [(b"set-cookie", b"a=1"), (b"set-cookie", b"b=2"), (b"date", b"long ago"), (b"keep-alive", b"9")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": answer})


def ask(application: Application, visit: Visit, *, seconds: float = 20.0, most: int = 8) -> Any:
    """Visit a door, on a real server, behind which everything is handed on to this application on a real socket."""

    async def tell() -> Any:
        with tempfile.TemporaryDirectory(prefix="pool-") as folder:
            socket = str(Path(folder) / "s")
            async with serving_here(application, uds=socket):
                return await _visit_front(socket, visit, seconds=seconds, most=most)

    return async_to_sync(tell)()


async def _visit_front(socket: str, visit: Visit, *, seconds: float, most: int) -> Any:
    slots = Slots(running=most, waiting=0, tiers=list(Tier))
    forwarder = Forwarder(socket, most=most, seconds=seconds)
    door = Door(dict.fromkeys(Tier, Lane(forwarder, slots)))
    async with serving_here(door, port=0, http=ExpressHttp) as server:
        port = server.servers[0].sockets[0].getsockname()[1]
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            found = await visit(client)
    await forwarder.close()
    assert slots.count() == (0, 0)
    return found


def test_pool_sees_the_request_as_it_came() -> None:
    async def visit(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post(
            "/a%20b/%2F?q=1&q=%C3%A4",
            content=b"text",
            headers={
                "Host": "school.example",
                "X-Forwarded-For": "10.0.0.1",
                "Connection": "x-own",
                "X-Own": "1",
            },
        )

    response = ask(echo, visit)

    seen = response.json()
    assert (seen["method"], seen["path"], seen["query"], seen["body"]) == (
        "POST",
        "/a b//",
        "q=1&q=%C3%A4",
        "text",
    )
    assert (seen["client"][0], seen["scheme"]) == ("10.0.0.1", "http")  # a proxy on this machine is believed
    headers = dict(seen["headers"])
    assert headers["host"] == "school.example"
    assert headers["x-forwarded-for"] == "10.0.0.1"
    assert headers["content-length"] == "4"
    assert {"connection", "x-own", "x-handover-peer", "transfer-encoding"}.isdisjoint(headers)


def test_answer_comes_back_whole_without_what_belongs_to_the_connection() -> None:
    response = ask(echo, lambda client: client.get("/"))

    assert response.status_code == 200
    assert response.headers.get_list("set-cookie") == ["a=1", "b=2"]
    assert len(response.headers.get_list("date")) == 1
    assert "keep-alive" not in response.headers
    assert response.headers["content-type"] == "application/json"


def test_body_of_unknown_length_and_one_too_large_to_hold_are_passed_on() -> None:
    pieces = [b"a" * 300_000] * 5

    async def stream() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async def visit(client: httpx.AsyncClient) -> list[Any]:
        chunked = await client.put("/", content=stream())
        sized = await client.put("/", content=b"".join(pieces))
        small = await client.put("/", content=_small())
        return [chunked.json(), sized.json(), small.json()]

    async def _small() -> AsyncIterator[bytes]:
        yield b"x"
        yield b"y"

    chunked, sized, small = ask(echo, visit)

    assert len(chunked["body"]) == len(sized["body"]) == 1_500_000
    assert dict(chunked["headers"])["transfer-encoding"] == "chunked"
    assert dict(sized["headers"])["content-length"] == "1500000"
    assert (small["body"], dict(small["headers"])["content-length"]) == ("xy", "2")


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 304), ("GET", 204)])
def test_answer_without_a_body_ends_after_its_head(method: str, status: int) -> None:
    async def empty(scope: Any, receive: Any, send: Any) -> None:
        head = [(b"content-length", b"0" if status == 204 else b"1000"), (b"etag", b'"x"')]
        if status == 304:
            head = head[1:]  # uvicorn itself takes none there
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": b""})

    async def visit(client: httpx.AsyncClient) -> list[tuple[int, bytes, str]]:
        answers = [await client.request(method, "/") for _ in range(2)]
        return [(answer.status_code, answer.content, answer.headers["etag"]) for answer in answers]

    assert ask(empty, visit) == [(status, b"", '"x"')] * 2


def test_stream_arrives_piece_by_piece() -> None:
    got_first = asyncio.Event()

    async def stream(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        async with asyncio.timeout(20):
            await got_first.wait()
        await send({"type": "http.response.body", "body": b"second"})

    async def visit(client: httpx.AsyncClient) -> list[bytes]:
        async with client.stream("GET", "/") as response:
            pieces = []
            async for piece in response.aiter_bytes():
                pieces.append(piece)
                got_first.set()
            return pieces

    assert ask(stream, visit) == [b"first", b"second"]


def test_pool_that_breaks_off_breaks_the_answer_off() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})

    async def visit(client: httpx.AsyncClient) -> None:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get("/")

    ask(broken, visit)


def test_pool_that_does_not_answer_leaves_reading_refused_and_writing_in_doubt() -> None:
    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(-1)
        writer.close()

    async def tell() -> list[tuple[int, Any]]:
        with tempfile.TemporaryDirectory(prefix="pool-") as folder:
            path = str(Path(folder) / "s")
            silent = await asyncio.start_unix_server(listen, path)
            async with silent:
                found: list[tuple[int, Any]] = await _visit_front(path, visit, seconds=0.2, most=8)
                return found

    async def visit(client: httpx.AsyncClient) -> list[tuple[int, Any]]:
        answers = [await client.get("/api/v1/exams"), await client.post("/api/v1/tokens")]
        for answer in answers:
            assert 1 <= int(answer.headers["retry-after"]) <= 5
        return [(answer.status_code, answer.json()["code"]) for answer in answers]

    assert async_to_sync(tell)() == [(503, "overloaded"), (503, "outcome_unknown")]


def test_pool_that_is_away_costs_a_plain_page_or_a_problem_and_is_counted() -> None:
    before = count_shed_so_far(Tier.WORK)

    async def visit(client: httpx.AsyncClient) -> list[httpx.Response]:
        return [await client.post("/api/v1/tokens", content=b"{}"), await client.get("/exams/")]

    async def tell() -> list[httpx.Response]:
        found: list[httpx.Response] = await _visit_front("/nowhere/s", visit, seconds=5, most=8)
        return found

    problem, page = async_to_sync(tell)()

    assert (problem.status_code, problem.json()["code"]) == (503, "overloaded")
    assert problem.headers["content-type"] == "application/problem+json"
    assert (page.status_code, page.headers["content-type"]) == (503, "text/html; charset=utf-8")
    assert "Very busy right now" in page.text
    assert "retry-after" in page.headers
    assert count_shed_so_far(Tier.WORK) == before + 2


def test_as_many_as_a_pool_may_hold_are_handed_on_and_no_more() -> None:
    inside = 0
    go_on = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        nonlocal inside
        inside += 1
        async with asyncio.timeout(20):
            await go_on.wait()
        await echo(scope, receive, send)

    async def visit(client: httpx.AsyncClient) -> list[int]:
        first = [asyncio.create_task(client.get("/")) for _ in range(3)]
        await until(lambda: inside == 3)
        shed = await client.get("/")
        go_on.set()
        return [
            shed.status_code,
            *[(await task).status_code for task in first],
            (await client.get("/")).status_code,
        ]

    assert ask(slow, visit, most=3) == [503, 200, 200, 200, 200]


def test_request_goes_to_its_end_when_the_client_hangs_up() -> None:
    inside, done = asyncio.Event(), asyncio.Event()
    go_on = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        inside.set()
        async with asyncio.timeout(20):
            await go_on.wait()
        await echo(scope, receive, send)
        done.set()

    async def visit(client: httpx.AsyncClient) -> None:
        task = asyncio.create_task(client.post("/", content=b"x"))
        await until(inside.is_set)
        task.cancel()
        await asyncio.wait([task])
        go_on.set()
        await until(done.is_set)

    ask(slow, visit)


def test_nobody_else_can_say_who_the_client_is() -> None:
    forged = b"0" * 64 + b" https 1 10.9.9.9"

    async def visit(client: httpx.AsyncClient) -> Any:
        return (await client.get("/", headers={b"x-handover-peer": forged})).json()

    seen = ask(echo, visit)
    direct = read_peer({"headers": [(b"x-handover-peer", forged)], "client": None, "scheme": "http"})

    assert (seen["client"][0], seen["scheme"]) == ("127.0.0.1", "http")
    assert direct == {"headers": [], "client": None, "scheme": "http"}


def test_headers_of_the_connection_and_those_it_names_stay() -> None:
    headers = [
        (b"Connection", b"close, X-A"),
        (b"x-a", b"1"),
        (b"TE", b"trailers"),
        (b"x-b", b"2"),
        (b"drop", b""),
    ]

    assert list_end_to_end(headers, {b"drop"}) == [(b"x-b", b"2")]
