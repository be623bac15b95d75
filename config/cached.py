"""A value that costs something to find, found at most once in a while and by one thread at a time, however many ask."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Cached(Generic[T]):
    """Keeps what `find` returned for so many seconds. While one thread finds it anew, the others wait for that one."""

    def __init__(self, find: Callable[[], T], *, seconds: float) -> None:
        self._find = find
        self._seconds = seconds
        self._lock = threading.Lock()
        self._kept: T
        self._until = float("-inf")

    def get(self) -> T:
        """Return the value, at most so many seconds old. What `find` raises is raised, and not kept."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._kept = self._find()
                self._until = time.monotonic() + self._seconds
            return self._kept

    def forget(self) -> None:
        """Find it anew the next time."""
        with self._lock:
            self._until = float("-inf")
