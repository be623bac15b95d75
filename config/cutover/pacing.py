"""How fast a backfill may go: never faster than asked, and not at all while others need the database more.

The one thing to know: it looks after every chunk, waits as long as there is a reason to, says which, and goes on by itself.
"""

import dataclasses
import logging
import time
from collections.abc import Callable
from typing import Final

from django.db import connection

from outbox.consumers.staleness import ConsumerStatus, get_consumer_status
from outbox.db import find_row
from outbox.queue.claim import list_ready_streams
from outbox.stopping import Stop
from projections.history.projector import MarksheetHistory

logger = logging.getLogger(__name__)

MIB: Final = 2**20
# Two segments of the write-ahead log: a standby that follows well is far below one.
LARGEST_LAG: Final = 32 * MIB
# Seconds a job may have been due: long before the queue's own alarm, long after a healthy worker took it.
LONGEST_QUEUE: Final = 10.0
LONGEST_WAIT: Final = 1.0  # seconds between two looks at what made it wait

Say = Callable[[str | None], object]  # why it waits now; None: it goes on


@dataclasses.dataclass(frozen=True, slots=True)
class Pressure:
    """What others need of the database now: the history, the standby that is furthest behind (in bytes), the queue (in seconds)."""

    history: ConsumerStatus
    standby: str
    standby_behind: int
    oldest_job: float


def read_pressure() -> Pressure:
    """Look at the history, the standbys and the queue. Three queries, none of which grows with what waits."""
    with connection.cursor() as cursor:
        standby, behind = find_row(cursor, "config", "find_slowest_standby", {}) or ("", 0)
    return Pressure(
        history=get_consumer_status(MarksheetHistory.name),
        standby=standby,
        standby_behind=behind,
        oldest_job=max((stream.age for stream in list_ready_streams()), default=0.0),
    )


def find_reason_to_wait(pressure: Pressure) -> str | None:
    """Return why a backfill should let others go first, None where nothing speaks against it."""
    if pressure.history.is_stale:
        behind = pressure.history.staleness.total_seconds()
        return f"the history is {behind:.0f} s behind. Are sequencer and consumers running?"
    if pressure.standby_behind > LARGEST_LAG:
        return f"the standby {pressure.standby} is {pressure.standby_behind / MIB:,.0f} MiB behind"
    if pressure.oldest_job > LONGEST_QUEUE:
        return f"the oldest job has waited for {pressure.oldest_job:.0f} s. Is a worker running?"
    return None


class Pace:
    """Keeps a run to its rate, and lets others go first."""

    def __init__(self, stop: Stop, rate: float | None, say: Say) -> None:
        self._stop = stop
        self._rate = rate
        self._say = say
        self._began = time.monotonic()
        self._copies = 0

    def keep(self, copies: int) -> bool:
        """Wait as long as it takes after so many more copies; return False when told to stop."""
        self._copies += copies
        if self._rate:
            ahead = self._copies / self._rate - (time.monotonic() - self._began)
            if ahead > 0:
                self._stop.wait(ahead)
        self._let_others_go_first()
        return not self._stop.is_set

    def _let_others_go_first(self) -> None:
        is_waiting = False
        while not self._stop.is_set and (reason := find_reason_to_wait(read_pressure())):
            if not is_waiting:
                logger.warning("Waiting: %s", reason)
            is_waiting = True
            self._say(f"waiting, {reason}")
            self._stop.wait(LONGEST_WAIT)
        if is_waiting:
            logger.info("Going on.")
            self._say(None)
