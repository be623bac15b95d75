"""How often somebody may try: decided in this process's memory, told to other processes where there is a Redis."""

from collections.abc import Hashable
from typing import Protocol

from exams.limits.buckets import Buckets


class Limit(Protocol):
    """How often somebody may try."""

    def take(self, key: Hashable) -> int:
        """Take one try: 0 if there was one, else the whole seconds until there will be."""

    def give_back(self, key: Hashable) -> None:
        """Return a try that turned out to be harmless."""


def make_limit(redis_url: str, *, name: str, capacity: float, per_second: float) -> Limit:
    """Return buckets shared through this Redis, or, without one, this process's own."""
    own = Buckets(capacity=capacity, per_second=per_second)
    if not redis_url:
        return own
    from exams.limits.shared import Ledger, SharedBuckets  # noqa: PLC0415 - Redis's library is loaded only where there is one

    return SharedBuckets(own, Ledger(redis_url, name=name, capacity=capacity, per_second=per_second))
