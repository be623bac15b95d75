"""How often somebody may try: token buckets in this process's memory.

Deliberately not shared between processes, unless there is a Redis (`exams.limits.shared`): a limit here keeps one caller from
hurting the others, and must cost nothing and never fail. With N serving processes a caller may have up to N times as much.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable

_MOST_KEYS = 100_000


class Buckets:
    """One bucket per key: it holds `capacity` tries and regains `per_second`. The least recently used is forgotten first."""

    def __init__(self, *, capacity: float, per_second: float) -> None:
        self._capacity = capacity
        self._per_second = per_second
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: Hashable) -> int:
        """Take one try: 0 if there was one, else the whole seconds until there will be (then nothing was taken)."""
        now = time.monotonic()
        with self._lock:
            level = self._level(key, now)
            if level < 1:
                return math.ceil((1 - level) / self._per_second)
            self._store(key, level - 1, now)
        return 0

    def give_back(self, key: Hashable) -> None:
        """Return a try that turned out to be harmless."""
        now = time.monotonic()
        with self._lock:
            self._store(key, min(self._capacity, self._level(key, now) + 1), now)

    def _level(self, key: Hashable, now: float) -> float:
        level, seen = self._levels.get(key, (self._capacity, now))
        return min(self._capacity, level + (now - seen) * self._per_second)

    def _store(self, key: Hashable, level: float, now: float) -> None:
        self._levels[key] = (level, now)
        self._levels.move_to_end(key)
        if len(self._levels) > _MOST_KEYS:
            self._levels.popitem(last=False)
