"""How much the gate takes in at once: per person, and altogether. Memory of this process only; the database is not asked."""

import dataclasses
import random
from types import TracebackType
from typing import Self

from django.conf import settings

from exams.errors import Overloaded
from exams.gate.meters import SHED
from exams.limits import make_limit


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """What one process takes on at most. A verdict is waited for a little longer than the committer has patience."""

    waiting: int = 4096  # hand-ins in line (ADR 0015)
    held_bytes: int = 64 * 1024 * 1024  # bodies in memory, read or being read
    body_seconds: float = 20.0
    verdict_seconds: float = 12.0


# A person needs one request, and a page behind a broken network a few a minute.
per_person = make_limit(settings.REDIS_URL, name="hand-ins", capacity=30, per_second=1.0)


# Spread, so that those refused together do not come back together; short, so that a minute's grace is many tries.
RETRY_AFTER = range(1, 6)


def count_shed(tier: str, number: int = 1) -> None:
    """Count requests that were turned away because this process, or what stands behind it, was busy.

    `tier` says what they were for (`config.admission.tiers.Tier`; the gate's own is `submit`).
    """
    SHED.labels(tier).inc(number)


class Room:
    """The memory that bodies may take, for all requests together."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def open(self) -> "Share":
        """Return one request's share of it, empty so far; to be used in a `with`, which gives it back."""
        return Share(self)


class Share:
    """What one request holds of the room."""

    __slots__ = ("_held", "_room")

    def __init__(self, room: Room) -> None:
        self._room = room
        self._held = 0

    def hold(self, size: int) -> None:
        """Hold so many bytes more, or raise `Overloaded`."""
        if self._room.left < size:
            raise overloaded()
        self._room.left -= size
        self._held += size

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.give_back()

    def give_back(self) -> None:
        """Give everything back; who does not use `with` calls this."""
        self._room.left += self._held
        self._held = 0


def overloaded(detail: str | None = None) -> Overloaded:
    """Return the refusal, with a wait drawn at random so that those refused together do not come back together."""
    return Overloaded(detail, retry_after=draw_retry_after())


def draw_retry_after() -> int:
    """Return how many seconds a client should wait before it sends the same request again."""
    return random.choice(RETRY_AFTER)  # noqa: S311 - spreads tries, keeps no secret
