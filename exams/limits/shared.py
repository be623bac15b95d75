"""Token buckets that several processes share through Redis, without anybody ever waiting for Redis.

Who decides is this process's memory, always: its own bucket, and what Redis last said. A thread tells Redis every few
milliseconds what was taken, all at once, and notes who is over their limit everywhere. So a burst over several processes is noticed
a moment late, and while Redis is away or slow each process counts for itself at no cost: it is left alone for some seconds.
"""

import logging
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Hashable, Iterable
from importlib import resources

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from exams.limits.buckets import Buckets

_ROUND_SECONDS = 0.01  # how long takes are gathered before they are told
_REDIS_SECONDS = 0.05
_QUIET_SECONDS = 5.0  # how long Redis is left alone after it failed
_MOST_WAITING = 10_000  # takes to be told, and people over their limit; more are forgotten

log = logging.getLogger(__name__)


class Ledger:
    """What Redis keeps: how much everybody has taken, over all processes that use this name."""

    def __init__(self, url: str, *, name: str, capacity: float, per_second: float) -> None:
        self._arguments = (capacity, per_second)
        self._name = name
        self._redis = redis.Redis.from_url(
            url,
            socket_timeout=_REDIS_SECONDS,
            socket_connect_timeout=_REDIS_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        text = (resources.files("exams") / "lua" / "take_tokens.lua").read_text(encoding="utf-8")
        self._script = self._redis.register_script(text)

    def take(self, counts: Counter[Hashable]) -> dict[Hashable, float]:
        """Take so many tries for each, fewer than none to give some back; return who is over their limit, and for how many seconds.

        Raises `RedisError`.
        """
        with self._redis.pipeline(transaction=False) as pipeline:
            for key, taken in counts.items():
                self._script(
                    keys=[f"handover:{self._name}:{key}"], args=[*self._arguments, taken], client=pipeline
                )
            waits = pipeline.execute()
        return {key: wait / 1000 for key, wait in zip(counts, waits, strict=True) if wait}


class SharedBuckets:
    """Like `Buckets`, over all processes with the same ledger."""

    def __init__(self, own: Buckets, ledger: Ledger) -> None:
        self._own = own
        self._ledger = ledger
        self._taken: deque[tuple[Hashable, int]] = deque(maxlen=_MOST_WAITING)
        self._over_until: dict[Hashable, float] = {}
        self._quiet_until = 0.0
        self._news = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def take(self, key: Hashable) -> int:
        """Take one try: 0 if there was one, else the whole seconds until there will be. Memory only."""
        now = time.monotonic()
        over_until = self._over_until.get(key, 0.0)
        if over_until > now:
            return math.ceil(over_until - now)
        wait = self._own.take(key)
        if not wait:
            self._note_taken(key, 1)
        return wait

    def give_back(self, key: Hashable) -> None:
        """Return a try that turned out to be harmless. Memory only."""
        self._own.give_back(key)
        self._over_until.pop(key, None)
        self._note_taken(key, -1)

    def _note_taken(self, key: Hashable, number: int) -> None:
        if time.monotonic() >= self._quiet_until:
            self._taken.append((key, number))
            if not self._news.is_set():
                self._wake()

    def _wake(self) -> None:
        """Have the thread look; the first time in this process, start it: threads do not survive a fork."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="shared-limits", daemon=True)
                self._thread.start()
        self._news.set()

    def _follow(self) -> None:
        while True:
            self._news.wait()
            time.sleep(_ROUND_SECONDS)
            self._news.clear()
            self._tell()

    def _tell(self) -> None:
        counts: Counter[Hashable] = Counter()
        while self._taken:
            key, number = self._taken.popleft()
            counts[key] += number
        try:
            over = self._ledger.take(counts) if counts else {}
        except (redis.RedisError, OSError) as error:
            log.warning(
                "Redis is away (%s): limits are each process's own for a while.", type(error).__name__
            )
            self._quiet_until = time.monotonic() + _QUIET_SECONDS
            return
        self._note(counts, over)

    def _note(self, told: Iterable[Hashable], over: dict[Hashable, float]) -> None:
        """Remember who is over the limit, and forget it of whom the ledger says so no longer: a try may have been given back meanwhile."""
        now = time.monotonic()
        for key in told:
            self._over_until.pop(key, None)
        if len(self._over_until) > _MOST_WAITING:
            self._over_until = {key: until for key, until in self._over_until.items() if until > now}
        for key, seconds in over.items():
            self._over_until[key] = now + seconds
