"""Sends for many students, each at their moment, whether or not the answers to others have come (an open loop).

A student who gets no receipt sends the same request again, as the exam page does, until there is one, or a refusal that no
repetition will change, or the patience of the rehearsal is over. No Django in here: see `behaviour`.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable, Sequence

from config.rehearsal.behaviour import (
    ACCEPTED,
    NO_ANSWER,
    WORTH_ANOTHER_TRY,
    Manner,
    Outcome,
    Student,
    Try,
    wait_before_retry,
)
from config.rehearsal.wire import Address, Answer, Pool, Wire

ANSWER_SECONDS = 20.0  # the gate answers within 12, whatever happens
SLOW_SECONDS, SLOW_PIECES = 3.0, 8
_NOTHING = Answer(NO_ANSWER, 0.0, b"")


class Courier:
    """One process's part of the load. `start_at` is the begin of the window by the monotonic clock, which processes share."""

    def __init__(
        self,
        address: Address,
        *,
        start_at: float,
        patience: float,
        connections: int,
        seed: int,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._address = address
        self._start_at = start_at
        self._give_up_at = start_at + patience
        self._answer_seconds = answer_seconds
        self._pool = Pool(address, most=connections, seconds=answer_seconds)
        self._dice = random.Random(seed)  # noqa: S311 - spreads tries, keeps no secret

    async def deliver(self, students: Sequence[Student], *, tell: Callable[[], None]) -> list[Outcome]:
        """Send for all of them; `tell` is called as each is done."""
        async with asyncio.TaskGroup() as group:
            tasks = []
            for student in sorted(students, key=lambda one: one.due_at):
                await self._sleep_until(self._start_at + student.due_at)
                tasks.append(group.create_task(self._serve(student, tell)))
        self._pool.close()
        return [task.result() for task in tasks]

    async def _serve(self, student: Student, tell: Callable[[], None]) -> Outcome:
        outcome = Outcome(student.attempt_id, student.due_at, student.manner, [], [])
        await self._hand_in(student, write_request(student, self._address), outcome)
        tell()
        return outcome

    async def _hand_in(self, student: Student, request: bytes, outcome: Outcome) -> None:
        """Send in the student's manner first, then plainly until it is settled."""
        answer = await self._begin(student, request, outcome)
        while answer.status in WORTH_ANOTHER_TRY:
            wait = wait_before_retry(len(outcome.tries), answer.retry_after, self._dice)
            if time.monotonic() + wait > self._give_up_at:
                return
            await asyncio.sleep(wait)
            answer = await self._send(self._pool.ask, request, outcome)
        if student.manner is Manner.AGAIN and answer.status in ACCEPTED:
            await self._send(self._pool.ask, request, outcome)

    async def _begin(self, student: Student, request: bytes, outcome: Outcome) -> Answer:
        match student.manner:
            case Manner.TWICE:
                both = [self._send(self._pool.ask, request, outcome) for _ in range(2)]
                return max(await asyncio.gather(*both), key=lambda answer: answer.status in ACCEPTED)
            case Manner.SLOW:
                return await self._send(self._ask_slowly, request, outcome)
            case Manner.HANGS_UP:
                return await self._send(self._hang_up, request, outcome)
        return await self._send(self._pool.ask, request, outcome)

    async def _send(
        self, ask: Callable[[bytes], Awaitable[Answer]], request: bytes, outcome: Outcome
    ) -> Answer:
        """Send once, and write down what came of it."""
        sent_at = time.monotonic()
        answer = _NOTHING
        with contextlib.suppress(OSError):
            answer = await ask(request)
        heard_at = time.monotonic()
        outcome.tries.append(Try(sent_at - self._start_at, heard_at - self._start_at, answer.status))
        if answer.status in ACCEPTED:
            outcome.receipts.append(answer.body)
        return answer

    async def _ask_slowly(self, request: bytes) -> Answer:
        """Send the body piece by piece."""
        head, _, body = request.partition(b"\r\n\r\n")
        wire = await Wire.open(self._address)
        try:
            answer = wire.ask(head + b"\r\n\r\n")
            size = len(body) // SLOW_PIECES + 1
            for begin in range(0, len(body), size):
                await asyncio.sleep(SLOW_SECONDS / SLOW_PIECES)
                wire.write(body[begin : begin + size])
            async with asyncio.timeout(self._answer_seconds):
                return await answer
        finally:
            wire.close()

    async def _hang_up(self, request: bytes) -> Answer:
        """Send all of it and be gone."""
        wire = await Wire.open(self._address)
        wire.write(request)
        wire.close()
        return _NOTHING

    async def _sleep_until(self, moment: float) -> None:
        seconds = moment - time.monotonic()
        if seconds > 0:
            await asyncio.sleep(seconds)


def write_request(student: Student, address: Address) -> bytes:
    """Return the request, ready to be sent."""
    head = (
        f"POST /api/v1/attempts/{student.attempt_id}/submission HTTP/1.1\r\nHost: {address.name}\r\n"
        f"Authorization: Bearer {student.token}\r\nContent-Type: application/json\r\nContent-Length: {len(student.body)}\r\n\r\n"
    )
    return head.encode() + student.body
