"""A consumer after a crash: one event at a time, each announced before it is tried, until the one that killed is found.

An event that raises is found by `outbox.consumers.poison`. One that ends the process (out of memory, a fault in a C library) leaves nothing
behind: its batch is rolled back, and the next process would die of it too, for ever. So a process whose predecessor
ended without signing off goes carefully over what that one may have had in hand: it commits the announcement first, as a job's
try is counted at its claim. With the death in company that made us careful, two deaths alone are three: the event's subject is parked.
"""

import dataclasses
import logging
import threading

from django.db import connection

from outbox.consumers.batches import BatchOutcome, Progress, list_batch_positions, run_batch
from outbox.consumers.consumer import ConsumerHandler
from outbox.consumers.cursors import (
    advance_cursor,
    batch_transaction,
    find_unlocked_consumer,
    get_checked_head,
)
from outbox.consumers.parking import park_subject, park_waiting_events
from outbox.consumers.poison import Poison
from outbox.db import fetch_row
from outbox.errors import ProcessLost
from outbox.faults import fault_point
from outbox.models.consumers import ConsumerState
from outbox.processes import Heart

logger = logging.getLogger(__name__)

MOST_DEATHS_ALONE = 2
# Consumers that share a process share its death: only one of them may have an event announced, or the others' would be blamed too.
_one_at_a_time = threading.Lock()


@dataclasses.dataclass(frozen=True, slots=True)
class Announced:
    """The event to be tried next, and how far the cursor is from it."""

    pos: int
    distance: int


class Care:
    """How carefully one consumer of this process goes. `run_batch()` is `outbox.consumers.batches.run_batch` for whoever may have to be careful."""

    def __init__(self, handler: ConsumerHandler, heart: Heart) -> None:
        self._handler = handler
        self._heart = heart
        self._until: int | None = None  # the position up to which we are careful; None before the first batch
        self._announced: int | None = None  # by this process, which is alive: it is not counted twice

    def run_batch(self, *, limit: int) -> Progress:
        """Run one batch, or after a crash one event."""
        if self._until is None:
            self._until = self._find_end(limit)
        if not self._until:
            return run_batch(self._handler, limit=limit)
        with _one_at_a_time:
            progress = self._run_announced(limit)
        if progress.position >= self._until:
            self._until = 0
        return progress

    def _find_end(self, limit: int) -> int:
        """Return the last position the predecessor may have had in hand; 0 when it signed off, or there was none."""
        with connection.cursor() as cursor:
            parameters = {"role": self._heart.role, "incarnation": self._heart.incarnation}
            (crashed,) = fetch_row(cursor, "outbox", "find_crash", parameters)
        if not crashed:
            return 0
        with batch_transaction():
            consumer = find_unlocked_consumer(self._handler.name)
        until = consumer.position + limit if consumer else 0
        if until:
            logger.warning("%s goes carefully up to position %d, after a crash.", self._handler.name, until)
        return until

    def _run_announced(self, limit: int) -> Progress:
        found = self._announce(limit)
        if isinstance(found, Progress):
            return found
        if found is None:  # nothing of ours in the range, or somebody else's turn
            return run_batch(self._handler, limit=limit)
        fault_point("after_announcement")
        return run_batch(self._handler, limit=found.distance)

    def _announce(self, limit: int) -> Announced | Progress | None:
        """Announce the next event, or park its subject when it has had its tries."""
        with batch_transaction():
            consumer = find_unlocked_consumer(self._handler.name)
            if consumer is None or consumer.state == ConsumerState.PAUSED:
                return None
            head = get_checked_head(consumer)
            upto = min(consumer.position + limit, head.pos)
            positions, _ = list_batch_positions(self._handler, consumer, upto)
            if not positions:
                return None
            (pos, *_) = positions
            if pos == self._announced or self._count_try(pos) <= MOST_DEATHS_ALONE:
                self._announced = pos
                return Announced(pos, pos - consumer.position)
            park_waiting_events(self._handler, after=consumer.position, upto=pos - 1)
            park_subject(consumer.name, Poison(pos, ProcessLost()), tries=MOST_DEATHS_ALONE + 1)
            advance_cursor(consumer, upto=pos, head=head)
            return Progress(BatchOutcome.PARKED, 0, pos, head.pos)

    def _count_try(self, pos: int) -> int:
        with connection.cursor() as cursor:
            (tries,) = fetch_row(
                cursor, "outbox", "announce_event", {"consumer": self._handler.name, "pos": pos}
            )
        return int(tries)
