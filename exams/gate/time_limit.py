"""A bound on waiting, for thousands of waits of one length at once.

`asyncio.timeout` sets and cancels a timer for each wait: measured here, two of them cost a sixth of all the processor time
of a hand-in. All waits below one limit are equally long, so the oldest ends first, and one timer looks after them all.
"""

import asyncio
from types import TracebackType


class TimeLimit:
    """`with limit: await …` raises `TimeoutError` after `seconds`, or up to an eighth of that later. For tasks only."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._begun: dict[asyncio.Task[object], float] = {}  # in order of beginning
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        self._begun[task] = loop.time()
        if self._timer is None:
            self._timer = loop.call_later(self.seconds / 8, self._look, loop)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        is_over = self._begun.pop(task, None) is None
        if is_over and task.uncancel() == 0 and isinstance(error, asyncio.CancelledError):
            raise TimeoutError from error

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        latest = loop.time() - self.seconds
        while self._begun:
            task, begun = next(iter(self._begun.items()))
            if begun > latest:
                break
            del self._begun[task]
            task.cancel()
        self._timer = loop.call_later(self.seconds / 8, self._look, loop) if self._begun else None
