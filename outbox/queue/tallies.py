"""What workers and sweepers count, minute by minute, in the database: rates and ratios survive the processes that made them.

A process adds up in memory and writes once a second, into a row of its own for this minute, by the database's clock. A process
that is killed takes at most a second's counts with it: they are for looking at, and no decision rests on them.
"""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from uuid import UUID, uuid4

from django.db import connection

from outbox.db import load_sql

BOUNDS = (
    0.001,
    0.002,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
)  # seconds; above the last is one more place
COUNTS = (
    "first_tries",
    "retries",
    "finished",
    "retried",
    "snoozed",
    "released",
    "buried",
    "lost",
    "lost_leases",
)
SECONDS_BETWEEN_TELLINGS = 1.0


class Teller:
    """Counts for one process. Not for several threads at once."""

    def __init__(self) -> None:
        self._teller: UUID = uuid4()
        self._next = 0.0
        self._forget()

    def add(self, **counts: int) -> None:
        """Add to these of COUNTS."""
        self._counts.update(counts)

    def time_claim(self, seconds: float) -> None:
        """Count a claim that took so long."""
        self._claims[bisect_left(BOUNDS, seconds)] += 1

    def tell_if_due(self) -> None:
        """Write down what was counted, at most once a second."""
        if time.monotonic() >= self._next:
            self.tell()
            self._next = time.monotonic() + SECONDS_BETWEEN_TELLINGS

    def tell(self) -> None:
        """Write down what was counted, if anything was. What could not be written is kept for the next time."""
        if not any(self._counts.values()) and not any(self._claims):
            return
        counted = {name: self._counts[name] for name in COUNTS}
        with connection.cursor() as cursor:
            cursor.execute(
                load_sql("outbox", "add_to_tally"),
                {"teller": self._teller, "claims": self._claims, **counted},
            )
        self._forget()

    def _forget(self) -> None:
        self._counts: Counter[str] = Counter()
        self._claims = [0] * (len(BOUNDS) + 1)


def find_percentile(claims: Sequence[int], share: float) -> float | None:
    """Return the seconds that this share of the claims stayed within, as the upper bound of its place; None without any claim.

    Above the last bound there is nothing to say but that: infinity.
    """
    total = sum(claims)
    if not total:
        return None
    place = next(place for place, upto in enumerate(accumulate(claims)) if upto >= share * total)
    return BOUNDS[place] if place < len(BOUNDS) else float("inf")
