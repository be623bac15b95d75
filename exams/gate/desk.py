"""Where the event loop and the committer's thread meet: a request waits here for its verdict.

Everything below runs on the event loop. Both sides are spoken to in groups. The requests that one turn of the loop has read
join the line together: one by one, the thread would wake for the first of them and commit it alone. But not too many at
once: then the loop and the database would take turns, each waiting for the other. A group's verdicts come back through
one `call_soon_threadsafe`.
"""

import asyncio
from collections.abc import Sequence

from exams.errors import OutcomeUnknown
from exams.gate.admission import Limits, draw_retry_after, overloaded
from exams.gate.committer import Committer
from exams.gate.handin import HandIn, Verdict
from exams.gate.session import Session
from exams.gate.time_limit import TimeLimit

_BITE = 16  # measured with 64 connections: 8 to 32 alike, a fifth more than all of a turn together


class Desk:
    """Bounds the line, and hands every hand-in its own verdict."""

    def __init__(self, session: Session, limits: Limits) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[HandIn, asyncio.Future[Verdict]] = {}
        self._most_waiting = limits.waiting
        self._time_limit = TimeLimit(limits.verdict_seconds)
        self._joining: list[HandIn] = []
        self._committer = Committer(session=session, deliver=self._deliver)
        self._committer.start()

    def check_room(self) -> None:
        """Raise `Overloaded` when the line is full: shed before anything is done for the request."""
        if len(self._waiting) >= self._most_waiting:
            raise overloaded()

    async def ask(self, handin: HandIn) -> Verdict:
        """Put the hand-in in line and return its verdict; raises `OutcomeUnknown` when the thread itself is stuck.

        A request that stops waiting does not stop its hand-in, which is committed or refused all the same.
        """
        verdict: asyncio.Future[Verdict] = self._loop.create_future()
        self._waiting[handin] = verdict
        self._join_with_this_turn(handin)
        try:
            with self._time_limit:
                return await verdict
        except TimeoutError:
            raise OutcomeUnknown(retry_after=draw_retry_after()) from None

    async def close(self) -> None:
        """Wait until the line has run dry and the thread has ended."""
        await asyncio.to_thread(self._committer.stop)

    def _join_with_this_turn(self, handin: HandIn) -> None:
        self._joining.append(handin)
        if len(self._joining) == 1:
            self._loop.call_soon(self._join)
        elif len(self._joining) >= _BITE:
            self._join()

    def _join(self) -> None:
        if self._joining:
            joining, self._joining = self._joining, []
            self._committer.join(joining)

    def _deliver(self, verdicts: Sequence[tuple[HandIn, Verdict]]) -> None:
        self._loop.call_soon_threadsafe(self._settle, verdicts)

    def _settle(self, verdicts: Sequence[tuple[HandIn, Verdict]]) -> None:
        for handin, verdict in verdicts:
            waiting = self._waiting.pop(
                handin, None
            )  # a defect of ours may tell somebody twice: the first word counts
            if waiting is not None and not waiting.done():
                waiting.set_result(verdict)
