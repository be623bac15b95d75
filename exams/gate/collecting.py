"""When Python's garbage collector looks through everything: once a minute at the most, and while nobody waits if that can be.

By itself it does so when a quarter more has come to stay than it knew of, which is in the middle of a crowd: thousands of new connections
and of hand-ins in line. One such pass then takes 50 to 150 ms, in which nobody is answered, not even with a refusal that costs 10 us.
What is young is looked through as ever.
"""

import asyncio
import gc
from collections.abc import Callable

_SHORTEST, _LONGEST = 20.0, 60.0  # seconds between two passes
_LOOKS_EVERY = 1.0
_NEVER = 2**31 - 1


class FullPasses:
    """Takes the full passes out of the collector's hands, from `start` to `stop`; on the event loop only."""

    def __init__(self, is_quiet: Callable[[], bool]) -> None:
        self._is_quiet = is_quiet
        self._loop = asyncio.get_running_loop()
        self._thresholds = gc.get_threshold()
        self._last = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin."""
        young, middle, _ = self._thresholds
        gc.set_threshold(young, middle, _NEVER)
        self._timer = self._loop.call_later(_LOOKS_EVERY, self._look)

    def stop(self) -> None:
        """Leave it to the collector again."""
        gc.set_threshold(*self._thresholds)
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        has_work = gc.get_count()[2] > 0  # or nothing has come to stay since the last one
        if has_work and is_due(self._loop.time() - self._last, is_quiet=self._is_quiet()):
            gc.collect()
            self._last = self._loop.time()
        self._timer = self._loop.call_later(_LOOKS_EVERY, self._look)


def is_due(seconds: float, *, is_quiet: bool) -> bool:
    """Say whether it is time for a full pass, so many seconds after the last one."""
    return seconds >= (_SHORTEST if is_quiet else _LONGEST)
