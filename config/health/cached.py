"""What the database says about itself, asked at most once in a while, by one thread however many want to know, and never waited for without end.

Nothing on the server bounds a server that is frozen, and Django cannot break off a view. So the question is put by a thread of its own,
on a connection of its own (`outside_the_pool`), and whoever asks stops waiting when their patience is over.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from django.db import OperationalError

from config.health.own_connection import outside_the_pool

T = TypeVar("T")


class NoAnswer(OperationalError):
    """The database does not answer."""


class Cached(Generic[T]):
    """Keeps what `find` returned for so many seconds; while it is being found anew, all wait for the one thread that does."""

    def __init__(self, find: Callable[[], T], *, seconds: float, patience: float) -> None:
        self._find = find
        self._seconds = seconds
        self._patience = patience
        self._lock = threading.Lock()
        self._kept: T
        self._until = float("-inf")
        self._search: _Search[T] | None = None

    def get(self) -> T:
        """Return the value, at most so many seconds old.

        What `find` raises is raised, and not kept. Raises `NoAnswer` once the search has taken as long as our patience, so at once where
        others have waited before us.
        """
        with self._lock:
            if time.monotonic() < self._until:
                return self._kept
            search = self._search or self._begin()
        try:
            return search.outcome.result(
                timeout=max(0.0, search.begun_at + self._patience - time.monotonic())
            )
        except TimeoutError:
            raise NoAnswer(f"The database has not answered within {self._patience:g} s.") from None

    def forget(self) -> None:
        """Find it anew the next time, also if somebody is just finding it: what happened meanwhile is to be seen."""
        with self._lock:
            self._until = float("-inf")
            self._search = None

    def _begin(self) -> "_Search[T]":
        self._search = search = _Search[T]()
        # A daemon: a process that is told to end does not wait for a frozen server.
        threading.Thread(target=self._run, args=[search], name="look", daemon=True).start()
        return search

    def _run(self, search: "_Search[T]") -> None:
        try:
            with outside_the_pool(seconds=self._patience):
                found = self._find()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            self._end(search)
            search.outcome.set_exception(error)
        else:
            self._end(search, found)
            search.outcome.set_result(found)

    def _end(self, search: "_Search[T]", *found: T) -> None:
        with self._lock:
            if self._search is not search:
                return  # forgotten meanwhile
            self._search = None
            if found:
                (self._kept,) = found
                self._until = time.monotonic() + self._seconds


class _Search(Generic[T]):
    """A thread that is finding the value."""

    def __init__(self) -> None:
        self.begun_at = time.monotonic()
        self.outcome: Future[T] = Future()
