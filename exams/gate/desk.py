"""Where the event loop and the committer's thread meet: a hand-in is asked about here, and its verdict told.

Everything below runs on the event loop. Both sides are spoken to in groups. The requests that one turn of the loop has read
join the line together: one by one, the thread would wake for the first of them and commit it alone. But not too many at
once: then the loop and the database would take turns, each waiting for the other. A group's verdicts come back through
one `call_soon_threadsafe`, and all of them are told in that turn of the loop (ADR 0015 has figures for fewer).
"""

import asyncio
import time
from collections.abc import Callable, Sequence

from exams.gate.admission import Limits, overloaded
from exams.gate.committer import Committer
from exams.gate.handin import UNKNOWN, HandIn, Verdict
from exams.gate.meters import WAITING
from exams.gate.session import Session

Tell = Callable[[Verdict], None]

_BITE = 16  # measured with 64 connections: 8 to 32 alike, a fifth more than all of a turn together
_LOOKS = 8  # how often within its time the oldest hand-in is looked at: a verdict may be that much late


class Desk:
    """Bounds the line, and tells everybody the verdict on their own hand-in, once."""

    def __init__(self, session: Session, limits: Limits) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[HandIn, Tell] = {}  # in order of arrival
        self._most_waiting = limits.waiting
        self._durability = session.durability
        self._seconds = min(limits.verdict_seconds, self._durability.verdict_seconds)
        self._joining: list[HandIn] = []
        self._committer = Committer(session=session, deliver=self._deliver)
        self._committer.start()
        self._clock = self._loop.call_later(self._seconds / _LOOKS, self._look)

    def is_full(self) -> bool:
        """Say whether nobody more may stand in line."""
        return len(self._waiting) >= self._most_waiting

    def is_quiet(self) -> bool:
        """Say whether nobody waits for a verdict."""
        return not self._waiting

    def check_room(self) -> None:
        """Raise `Overloaded` when the line is full or nothing can be made safe: shed before anything is done for the request."""
        self._durability.check_ready()
        if self.is_full():
            raise overloaded()

    def ask(self, handin: HandIn, tell: Tell) -> None:
        """Put the hand-in in line; `tell` gets its verdict, `unknown` when the thread itself is stuck.

        Nobody can take it back: whoever stops listening has not stopped it from being committed or refused.
        """
        self._waiting[handin] = tell
        self._joining.append(handin)
        if len(self._joining) == 1:
            self._loop.call_soon(self._join)
        elif len(self._joining) >= _BITE:
            self._join()

    async def wait_for(self, handin: HandIn) -> Verdict:
        """Put the hand-in in line and return its verdict."""
        verdict: asyncio.Future[Verdict] = self._loop.create_future()
        self.ask(handin, lambda told: None if verdict.done() else verdict.set_result(told))
        return await verdict

    async def close(self) -> None:
        """Wait until the line has run dry and the thread has ended."""
        await asyncio.to_thread(self._committer.stop)
        self._clock.cancel()

    def _join(self) -> None:
        if self._joining:
            joining, self._joining = self._joining, []
            self._committer.join(joining)

    def _deliver(self, verdicts: Sequence[tuple[HandIn, Verdict]]) -> None:
        self._loop.call_soon_threadsafe(self._settle, verdicts)

    def _settle(self, verdicts: Sequence[tuple[HandIn, Verdict]]) -> None:
        for handin, verdict in verdicts:
            tell = self._waiting.pop(handin, None)  # who was told `unknown` meanwhile is not told twice
            if tell is not None:
                tell(verdict)
        WAITING.set(len(self._waiting))

    def _look(self) -> None:
        """Tell those who have waited too long; one timer for all, since all may wait equally long."""
        latest = time.monotonic() - self._seconds
        late = []
        for handin in self._waiting:
            if handin.arrived_at > latest:
                break
            late.append((handin, UNKNOWN))
        self._settle(late)
        self._clock = self._loop.call_later(self._seconds / _LOOKS, self._look)
