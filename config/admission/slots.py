"""Places for requests that are worked on at once, and a short queue for them; who matters less is turned away first.

Belongs to one event loop and needs no lock. Two rules make the order: of the places, each tier leaves some to those above it;
and whoever finds the queue full takes the place of the last one who matters less. Nobody waits longer than `patience`.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Sequence

from config.admission.tiers import Tier
from exams.gate.admission import overloaded


class Slots:
    """Bounds what is running and what is waiting. `tiers`: those served here, the most important first."""

    def __init__(self, *, running: int, waiting: int, tiers: Sequence[Tier], patience: float = 5.0) -> None:
        self._caps = share_out(running, tiers)
        self._least = tiers[-1]  # for what is served elsewhere and came here all the same
        self._running = dict.fromkeys(tiers, 0)
        self._queues: dict[Tier, deque[asyncio.Future[None]]] = {tier: deque() for tier in tiers}
        self._most_waiting = waiting
        self._patience = patience

    @contextlib.asynccontextmanager
    async def hold(self, tier: Tier) -> AsyncIterator[None]:
        """Hold a place for as long as the block runs; raises `Overloaded` when there is none to be had."""
        tier = self._place(tier)
        await self._take(tier)
        try:
            yield
        finally:
            self._running[tier] -= 1
            self._admit()

    def check(self, tier: Tier) -> None:
        """Raise `Overloaded` when `hold` would do so now; asked before a body is read, which may take long."""
        tier = self._place(tier)
        if not self._has_place(tier) and self._is_full() and self._find_lesser(tier) is None:
            raise overloaded()

    def count(self) -> tuple[int, int]:
        """Return how many requests run and how many wait."""
        return sum(self._running.values()), sum(map(len, self._queues.values()))

    def _place(self, tier: Tier) -> Tier:
        return tier if tier in self._caps else self._least

    async def _take(self, tier: Tier) -> None:
        if self._has_place(tier):
            self._running[tier] += 1
            return
        if self._is_full():
            self._turn_away_for(tier)
        await self._wait(tier)

    async def _wait(self, tier: Tier) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues[tier].append(turn)
        try:
            async with asyncio.timeout(self._patience):
                await turn
        except BaseException as error:
            self._leave(tier, turn)
            if isinstance(error, TimeoutError):
                raise overloaded() from None
            raise

    def _leave(self, tier: Tier, turn: asyncio.Future[None]) -> None:
        """Forget somebody who stopped waiting, or give back the place that came in the same moment."""
        if turn in self._queues[tier]:
            self._queues[tier].remove(turn)
        elif not turn.cancelled() and turn.exception() is None:
            self._running[tier] -= 1
            self._admit()

    def _admit(self) -> None:
        for tier, queue in self._queues.items():
            while queue and self._has_room(tier):
                turn = queue.popleft()
                if not turn.done():
                    self._running[tier] += 1
                    turn.set_result(None)

    def _has_place(self, tier: Tier) -> bool:
        return not self._queues[tier] and self._has_room(tier)

    def _has_room(self, tier: Tier) -> bool:
        """Say whether one more fits: under the caps of this tier and of all above it, which count those below them too."""
        running = 0
        is_counted = False
        for each in reversed(self._caps):
            running += self._running[each]
            is_counted = is_counted or each is tier
            if is_counted and running >= self._caps[each]:
                return False
        return True

    def _is_full(self) -> bool:
        return sum(map(len, self._queues.values())) >= self._most_waiting

    def _turn_away_for(self, tier: Tier) -> None:
        lesser = self._find_lesser(tier)
        if lesser is None:
            raise overloaded()
        self._queues[lesser].pop().set_exception(overloaded())

    def _find_lesser(self, tier: Tier) -> Tier | None:
        """Return the least important tier that waits, if it is less important than this one."""
        for each in reversed(self._queues):
            if each is tier:
                return None
            if self._queues[each]:
                return each
        return None


def share_out(places: int, tiers: Sequence[Tier]) -> dict[Tier, int]:
    """Return how many places a tier and those below it may have together: each leaves a fifth of all to those above it, but keeps one."""
    return {tier: max(1, places - places * step // 5) for step, tier in enumerate(tiers)}
