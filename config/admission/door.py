"""The door in front of Django and the pools: what a request is for decides whether it is worked on, waits, or is turned away.

A slow client never holds a place: a body of up to `LARGEST_BODY`, any of the API, is read before one is asked for, and whoever does not read the answer loses
the connection. A place is held until the work is done, also when the client has gone or was told that it took too long (`config.admission.timely`):
Django cannot stop a view that runs in a thread, so telling it would only free the place of a thread that is still there.
"""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from config.admission.busy import give_up_on, turn_away
from config.admission.slots import Slots
from config.admission.tiers import SAFE_METHODS, Tier, classify
from config.admission.timely import TimelyAnswer
from exams.errors import ExamsError, Overloaded, TooSlow
from exams.gate.admission import Room, Share, count_shed
from exams.gate.reading import ClientGone
from exams.gate.time_limit import TimeLimit
from exams.media_type import LARGEST_BODY

Message = MutableMapping[str, Any]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_HELD_BYTES = 64 * 1024 * 1024


class SlowReader(Exception):
    """The client does not take its answer."""


@dataclasses.dataclass(frozen=True, slots=True)
class Lane:
    """Who answers some tiers, and how many at once; and how long an answer may take to begin, where its application bounds nothing itself."""

    application: Application
    slots: Slots
    seconds: float | None = None


class Door:
    """The ASGI application in front of the lanes; which tier goes into which lane is given."""

    def __init__(
        self, lanes: Mapping[Tier, Lane], *, body_seconds: float = 60.0, read_seconds: float = 30.0
    ) -> None:
        self._lanes = lanes
        self._room = Room(_HELD_BYTES)
        self._body_limit = TimeLimit(body_seconds)
        self._read_limit = TimeLimit(read_seconds)
        for tier in Tier:
            count_shed(tier, 0)  # a meter that is not there before its first count shows no rise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        tier = classify(scope["method"], scope["path"])
        try:
            await self._admit(tier, scope, receive, send)
        except (ClientGone, SlowReader):
            return
        except ExamsError as error:
            if isinstance(error, Overloaded):
                count_shed(tier)
            await _refuse(scope, send, error)

    async def _admit(self, tier: Tier, scope: Scope, receive: Receive, send: Send) -> None:
        lane = self._lanes[tier]
        lane.slots.check(tier)
        with self._room.open() as share:
            body = await self._read_early(receive, share)
            async with lane.slots.hold(tier):
                await self._work(lane, scope, body, self._bound(send))

    async def _work(self, lane: Lane, scope: Scope, body: "EarlyBody", send: Send) -> None:
        if lane.seconds is None:
            await lane.application(scope, body.receive, send)
            return

        async def give_up() -> None:
            await _refuse(scope, send, give_up_on(scope["method"]))

        answer = TimelyAnswer(send, seconds=lane.seconds, since=lambda: body.completed_at, give_up=give_up)
        try:
            await lane.application(scope, body.receive, answer.send)
        finally:
            await answer.close()

    async def _read_early(self, receive: Receive, share: Share) -> "EarlyBody":
        body = EarlyBody(receive, until=asyncio.get_running_loop().time() + self._body_limit.seconds)
        try:
            with self._body_limit:
                await body.read(share)
        except TimeoutError:
            raise TooSlow from None
        return body

    def _bound(self, send: Send) -> Send:
        async def bounded(message: Message) -> None:
            try:
                with self._read_limit:
                    await send(message)
            except TimeoutError:
                raise SlowReader from None

        return bounded


class EarlyBody:
    """The beginning of a body, read before its time, mostly all of it; what is left comes through.

    `completed_at`: when the last of it had come, by the loop's clock; None until then.
    """

    completed_at: float | None = None

    def __init__(self, receive: Receive, *, until: float) -> None:
        self._receive = receive
        self._until = until
        self._pieces: list[bytes] = []
        self._is_given = False

    async def read(self, share: Share) -> None:
        """Read to the end, or as much as may be held; raises `ClientGone`."""
        size = 0
        while self.completed_at is None and size < LARGEST_BODY:
            message = await self._receive()
            if message["type"] != "http.request":
                raise ClientGone
            piece = message.get("body", b"")
            share.hold(len(piece))
            size += len(piece)
            self._pieces.append(piece)
            self._note_end(message)

    async def receive(self) -> Message:
        """Give first what was read, then what comes; after the end nothing, for ever: nobody is told that the client has gone."""
        if not self._is_given:
            self._is_given = True
            return {
                "type": "http.request",
                "body": b"".join(self._pieces),
                "more_body": self.completed_at is None,
            }
        if self.completed_at is not None:
            await asyncio.get_running_loop().create_future()
        message = await self._receive_rest()
        self._note_end(message)
        return message

    def _note_end(self, message: Message) -> None:
        if message["type"] == "http.request" and not message.get("more_body", False):
            self.completed_at = asyncio.get_running_loop().time()

    async def _receive_rest(self) -> Message:
        """Take what comes, in the time that is left for all of it: here the request holds a place."""
        try:
            async with asyncio.timeout_at(self._until):
                return await self._receive()
        except TimeoutError:
            return {"type": "http.disconnect"}


async def _refuse(scope: Scope, send: Send, error: ExamsError) -> None:
    response = turn_away(scope["path"], error, is_safe=scope["method"] in SAFE_METHODS)
    body = b"" if scope["method"] == "HEAD" else response.body
    await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
    await send({"type": "http.response.body", "body": body})
