"""The door itself: bodies are read before a place is asked for, and nobody holds one by being slow."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from prometheus_client import REGISTRY

from config.admission.door import Door, Lane
from config.admission.slots import Slots
from config.admission.tiers import Tier
from exams.gate.meters import SHED
from exams.media_type import LARGEST_BODY
from tests.overload.here import until
from tests.overload.shed import count_shed_so_far

Messages = list[dict[str, Any]]
SCOPE = {"type": "http", "method": "POST", "path": "/admin/", "headers": [], "query_string": b""}


def piece(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


class Visit:
    """One request through a door with one place; what is not in `messages` never comes."""

    def __init__(self, messages: Iterable[dict[str, Any]], *, seconds: float = 60.0) -> None:
        self.slots = Slots(running=1, waiting=0, tiers=list(Tier))
        self.seen: Messages = []
        self.sent: Messages = []
        self._messages = iter(list(messages))
        self._seconds = seconds
        self.stuck = asyncio.Event()
        self._late: asyncio.Future[dict[str, Any]]
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.can_write = True

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        while True:
            message = await receive()
            self.seen.append(message)
            if not message.get("more_body"):
                break
        await self.go_on.wait()
        if message["type"] == "http.request":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"ok"})

    async def receive(self) -> dict[str, Any]:
        for message in self._messages:
            return message
        self._late = asyncio.get_running_loop().create_future()
        self.stuck.set()
        return await self._late

    def come(self, message: dict[str, Any]) -> None:
        """Let a message come late."""
        self._late.set_result(message)

    async def send(self, message: dict[str, Any]) -> None:
        if not self.can_write:
            await asyncio.get_running_loop().create_future()
        self.sent.append(message)

    async def go(self, *, answer_seconds: float | None = None, **scope: Any) -> None:
        lane = Lane(self.application, self.slots, answer_seconds)
        door = Door(dict.fromkeys(Tier, lane), body_seconds=self._seconds, read_seconds=self._seconds)
        await door({**SCOPE, **scope}, self.receive, self.send)

    @property
    def status(self) -> Any:
        return self.sent[0]["status"] if self.sent else None


def test_body_reaches_the_application_in_one_piece() -> None:
    visit = Visit([piece(b"a", more=True), piece(b"b", more=True), piece(b"c")])

    async_to_sync(visit.go)()

    assert (visit.seen, visit.status) == ([piece(b"abc")], 200)


def test_body_too_large_to_hold_comes_through_as_it_comes() -> None:
    large = b"x" * LARGEST_BODY
    visit = Visit([piece(large, more=True), piece(b"b", more=True), piece(b"c")])

    async_to_sync(visit.go)()

    assert (visit.seen, visit.status) == ([piece(large, more=True), piece(b"b", more=True), piece(b"c")], 200)


def test_slow_body_holds_no_place_and_is_refused_in_the_end() -> None:
    visit = Visit([piece(b"a", more=True)], seconds=0.2)

    async def tell() -> tuple[int, int]:
        going = asyncio.create_task(visit.go())
        await visit.stuck.wait()
        count = visit.slots.count()
        await going
        return count

    assert async_to_sync(tell)() == (0, 0)
    assert (visit.seen, visit.status) == ([], 408)


def test_slow_rest_of_a_large_body_gives_its_place_back_in_time() -> None:
    large = piece(b"x" * LARGEST_BODY, more=True)
    visit = Visit([large], seconds=0.2)

    async_to_sync(visit.go)()

    assert visit.seen == [large, {"type": "http.disconnect"}]
    assert visit.slots.count() == (0, 0)


def test_client_that_hangs_up_before_the_end_is_not_answered() -> None:
    visit = Visit([piece(b"a", more=True), {"type": "http.disconnect"}])

    async_to_sync(visit.go)()

    assert (visit.seen, visit.sent) == ([], [])


def test_client_that_does_not_read_its_answer_loses_its_place() -> None:
    visit = Visit([piece(b"")], seconds=0.2)
    visit.can_write = False

    async_to_sync(visit.go)()

    assert (visit.sent, visit.slots.count()) == ([], (0, 0))


def test_meter_of_what_is_shed_has_every_tier_before_the_first_request() -> None:
    SHED.clear()
    Door({})
    counted = {tier: REGISTRY.get_sample_value("handover_shed_total", {"tier": tier}) for tier in Tier}
    assert counted == dict.fromkeys(Tier, 0.0)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/admin/", b"text/html; charset=utf-8"),
        ("/api/v1/schema", b"application/problem+json"),
        ("/marksheets/x/marks", b"application/problem+json"),
    ],
)
def test_shed_request_is_counted_and_answered_without_its_body_or_the_application(
    path: str, kind: bytes
) -> None:
    visit = Visit([])
    before = count_shed_so_far()

    async def tell() -> None:
        async with visit.slots.hold(Tier.WORK):
            await visit.go(path=path)

    async_to_sync(tell)()

    head = dict(visit.sent[0]["headers"])
    assert (visit.status, head[b"content-type"], visit.seen) == (503, kind, [])
    assert int(head[b"retry-after"]) in range(1, 6)
    assert int(head[b"content-length"]) == len(visit.sent[1]["body"])
    assert count_shed_so_far() == before + 1


@pytest.mark.parametrize(
    ("method", "path", "words"),
    [
        (
            "GET",
            "/marksheets/",
            b"<h1>This took too long</h1>\n          <p>The database may be slow or away.",
        ),
        ("POST", "/terms/", b"It may or may not have been done."),
        ("GET", "/api/v1/exams", b'"code": "overloaded"'),
        ("PUT", "/api/v1/attempts/x/draft", b'"code": "outcome_unknown"'),
    ],
)
def test_answer_that_does_not_begin_in_time_is_the_truth_instead_and_its_place_is_held_on(
    method: str, path: str, words: bytes
) -> None:
    visit = Visit([piece(b"")])
    visit.go_on.clear()

    async def tell() -> tuple[int, int]:
        going = asyncio.create_task(visit.go(answer_seconds=0.01, method=method, path=path))
        await until(lambda: len(visit.sent) == 2)
        held = visit.slots.count()
        visit.go_on.set()
        await going
        return held

    assert async_to_sync(tell)() == (1, 0)
    assert (visit.status, len(visit.sent), visit.slots.count()) == (503, 2, (0, 0))
    assert words in visit.sent[1]["body"]
    assert int(dict(visit.sent[0]["headers"])[b"retry-after"]) in range(1, 6)


def test_answer_that_has_begun_may_take_its_time() -> None:
    visit = Visit([piece(b"")])

    async def stream(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(0.05)  # five times as long as it may take to begin
        await send({"type": "http.response.body", "body": b"ok"})

    visit.application = stream  # type: ignore[method-assign]

    async_to_sync(visit.go)(answer_seconds=0.01)

    assert [message.get("status", message.get("body")) for message in visit.sent] == [200, b"ok"]


def test_time_for_an_answer_runs_from_the_end_of_the_request() -> None:
    visit = Visit([piece(b"x" * LARGEST_BODY, more=True)])

    async def tell() -> Any:
        going = asyncio.create_task(visit.go(answer_seconds=0.01))
        await visit.stuck.wait()
        await asyncio.sleep(
            0.05
        )  # five times as long as an answer may take, while the body is still on its way
        meanwhile = list(visit.sent)
        visit.come(piece(b""))
        await going
        return meanwhile

    assert (async_to_sync(tell)(), visit.status) == ([], 200)
