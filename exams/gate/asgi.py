"""`POST /api/v1/attempts/{id}/submission`, without Django's request machinery (ADR 0003).

`config.asgi` sends that one address here, and the lifespan too; `config.serving.express` hands over what came in one piece. Read
`_welcome` and `_read` for the order of the checks, the same at both doors.
"""

import asyncio
import functools
import gc
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from exams.errors import ExamsError, MethodNotAllowed, Overloaded, RateLimited, TooSlow
from exams.gate.admission import RETRY_AFTER, Limits, Room, Share, count_shed, per_person
from exams.gate.collecting import FullPasses
from exams.gate.desk import Desk
from exams.gate.durability import Durability, get_durability
from exams.gate.handin import HandIn, Verdict
from exams.gate.reading import (
    ClientGone,
    Head,
    Receive,
    check_head,
    find_request_id,
    read_attempt_id,
    read_body,
    read_handin,
    read_student_id,
)
from exams.gate.responses import Response, answer, apologise, name_answer, refuse
from exams.gate.session import Session
from exams.gate.time_limit import TimeLimit
from exams.receipt_keys import get_key_ring
from exams.tokens import revocations

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Respond = Callable[[Response], None]

log = logging.getLogger(__name__)


class Gate:
    """The ASGI application. One a process; it starts its committer with the lifespan, or with the first request."""

    def __init__(self, *, durability: Durability, limits: Limits | None = None) -> None:
        self._durability = durability
        self._limits = limits or Limits()
        self._room = Room(self._limits.held_bytes)
        self._body_limit = TimeLimit(self._limits.body_seconds)
        self._desk: Desk | None = None
        self._full_passes: FullPasses | None = None

    def is_full(self) -> bool:
        """Say whether `take_whole` would refuse anything now because the line is full; its answer is one of `list_refusals`."""
        return self._desk is not None and self._desk.is_full()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection scope."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        head: Head = dict(scope["headers"])
        request_id = find_request_id(head)
        try:
            response = await self._take_in(scope, head, receive, request_id)
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, it is answered
            response = _excuse(error)
        response = name_answer(response, request_id)
        await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
        await send({"type": "http.response.body", "body": response.body})

    async def _take_in(self, scope: Scope, head: Head, receive: Receive, request_id: UUID | None) -> Response:
        if scope["method"] != "POST":
            raise MethodNotAllowed
        desk = self._desk or self._open()
        desk.check_room()
        who = _welcome(scope["path"], head)
        with self._room.open() as share:
            body = await self._read_body(receive, share)
            handin = _read(body, who, request_id)
            desk.check_room()
            return answer(handin, await desk.wait_for(handin), get_key_ring())

    def take_whole(self, path: str, head: Head, body: bytes, respond: Respond) -> None:
        """Serve a POST that has arrived complete, without a task: `respond` is called once, maybe before this returns."""
        request_id = find_request_id(head)
        if request_id is not None:
            respond = functools.partial(_respond_as, request_id, respond)
        try:
            desk = self._desk or self._open()
            desk.check_room()  # before the token is looked at: in a crowd, most answers are this refusal
            who = _welcome(path, head)
            handin = _read(body, who, request_id)
            share = self._room.open()
            share.hold(len(body))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is answered
            respond(_excuse(error))
        else:
            desk.ask(handin, functools.partial(_tell, handin, share, respond))

    async def _read_body(self, receive: Receive, share: Share) -> bytes:
        try:
            with self._body_limit:
                return await read_body(receive, share)
        except TimeoutError:
            raise TooSlow from None

    def _open(self) -> Desk:
        session = Session(durability=self._durability, key_id=get_key_ring().signing_id)
        self._desk = Desk(session, self._limits)
        return self._desk

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send(await self._start())
            else:
                await self.close()
                await asyncio.to_thread(revocations.stop)
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _start(self) -> dict[str, str]:
        """Open the gate, or say why this process must not serve: without keys it could give no receipt."""
        revocations.start()
        if not await asyncio.to_thread(revocations.wait_until_loaded):
            log.warning("The list of revoked tokens is not there yet; the gate opens without it.")
        try:
            self._open()
        except ImproperlyConfigured as error:
            return {"type": "lifespan.startup.failed", "message": str(error)}
        gc.collect()
        gc.freeze()  # what a process has loaded by now stays; looking through it again and again would cost a pause each time
        self._full_passes = FullPasses(self._is_quiet)
        self._full_passes.start()
        return {"type": "lifespan.startup.complete"}

    async def close(self) -> None:
        """Commit what is in line, answer it, and stop."""
        if self._full_passes is not None:
            self._full_passes.stop()
        if self._desk is not None:
            await self._desk.close()
            self._desk = None

    def _is_quiet(self) -> bool:
        return self._desk is None or self._desk.is_quiet()


class _Who(NamedTuple):
    """Who hands in what."""

    attempt_id: UUID
    student_id: UUID


def _welcome(path: str, head: Head) -> _Who:
    """Look at everything that stands before the body, cheapest refusal first."""
    attempt_id = read_attempt_id(path)
    student_id = read_student_id(head)
    # By text: the collector need not look at a hundred thousand of them.
    if wait := per_person.take(student_id.hex):
        raise RateLimited(retry_after=wait)
    check_head(head)
    return _Who(attempt_id, student_id)


def _read(body: bytes, who: _Who, request_id: UUID | None) -> HandIn:
    handin = read_handin(
        body, attempt_id=who.attempt_id, student_id=who.student_id, arrived_at=time.monotonic()
    )
    handin.request_id = request_id
    return handin


def _respond_as(request_id: UUID, respond: Respond, response: Response) -> None:
    respond(name_answer(response, request_id))


def _tell(handin: HandIn, share: Share, respond: Respond, verdict: Verdict) -> None:
    share.give_back()
    try:
        response = answer(handin, verdict, get_key_ring())
    except Exception as error:  # noqa: BLE001 - whatever it is, it is answered
        response = _excuse(error)
    respond(response)


def list_refusals() -> list[Response]:
    """Return what a full line says, once for each Retry-After that may be drawn."""
    return [refuse(Overloaded(retry_after=seconds)) for seconds in RETRY_AFTER]


def _excuse(error: Exception) -> Response:
    if isinstance(error, Overloaded):
        count_shed("submit")
    if isinstance(error, ExamsError):
        return refuse(error)
    log.error("The gate failed on a request.", exc_info=error)
    return apologise()


application = Gate(durability=get_durability(settings.DURABILITY))
