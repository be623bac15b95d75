"""One batch of a consumer: take its row's lock, read, apply, move the cursor, one commit.

A crash repeats nothing and loses nothing, because effects and cursor commit together. Two instances of one consumer take turns.
"""

import dataclasses
import enum
import functools
from collections.abc import Sequence
from typing import Literal

from django.db import connection

from outbox.consumers.consumer import Batch, ConsumerHandler
from outbox.consumers.cursors import (
    Failing,
    Look,
    advance_cursor,
    batch_transaction,
    find_look,
    find_unlocked_consumer,
    get_checked_head,
    register_consumer,
)
from outbox.consumers.filling import try_fill
from outbox.consumers.parking import park_subject, park_waiting_events
from outbox.consumers.poison import MOST_TRIES, Poison, apply_until_poison, count_tries
from outbox.consumers.tables import bind_live_tables
from outbox.db import fetch_row
from outbox.errors import CursorMoved
from outbox.faults import fault_point
from outbox.log.reading import refuse_foreign_position
from outbox.models.consumers import Consumer, ConsumerState

LIMIT = 500
MOST_WITH_CARE = 10_000  # however many are filled at once: a handler in Python has them all in memory


class BatchOutcome(enum.StrEnum):
    """How a batch ended."""

    ADVANCED = "advanced"
    NOTHING_NEW = "nothing new"
    PAUSED = "paused"
    BUSY = "busy"  # another instance has the row
    MOVED = "moved"  # the cursor is not where this batch began: nothing was kept
    FAILING = "failing"  # the next event failed and will be tried again
    PARKED = "parked"  # the next event failed too often: its subject was parked


MORE_TO_DO = {BatchOutcome.ADVANCED, BatchOutcome.PARKED}


@dataclasses.dataclass(frozen=True, slots=True)
class Progress:
    """What one batch did: the events it applied (those of other kinds are passed over), and where it left the cursor."""

    outcome: BatchOutcome
    applied: int = 0
    position: int = 0
    head: int = 0

    @property
    def more(self) -> bool:
        """Whether it is worth going on at once."""
        return self.outcome in MORE_TO_DO


def run_batch(
    handler: ConsumerHandler, *, limit: int = LIMIT, durability: Literal["local", "off"] = "local"
) -> Progress:
    """Run one batch of at most `limit` positions, if there is anything to do. Losing a race is an outcome, not an error."""
    look = _look(handler)
    if look.state == ConsumerState.PAUSED:
        return Progress(BatchOutcome.PAUSED, position=look.cursor.pos, head=look.head.pos)
    refuse_foreign_position(look.cursor, look.head)
    if look.cursor == look.head and not look.heartbeat_due and look.state == ConsumerState.RUNNING:
        return Progress(BatchOutcome.NOTHING_NEW, position=look.cursor.pos, head=look.head.pos)
    try:
        with batch_transaction(durability=durability):
            progress = _run_locked(handler, limit)
    except CursorMoved:
        return Progress(BatchOutcome.MOVED, position=look.cursor.pos, head=look.head.pos)
    if progress.applied:
        fault_point("after_batch")
    return progress


def _look(handler: ConsumerHandler) -> Look:
    look = find_look(handler.name)
    if look is None:
        register_consumer(handler)
        look = find_look(handler.name)
    assert look is not None
    return look


def _run_locked(handler: ConsumerHandler, limit: int) -> Progress:
    consumer = find_unlocked_consumer(handler.name)
    if consumer is None:
        return Progress(BatchOutcome.BUSY)
    if consumer.state == ConsumerState.PAUSED:  # since the look
        return Progress(BatchOutcome.PAUSED, position=consumer.position)
    head = get_checked_head(consumer)
    upto = min(consumer.position + limit, head.pos)
    filled = try_fill(handler, consumer, upto)
    if filled is not None:
        advance_cursor(consumer, upto=upto, head=head)
        fault_point("in_batch")
        return Progress(BatchOutcome.ADVANCED, filled, upto, head.pos)
    upto = min(consumer.position + MOST_WITH_CARE, upto)
    positions, waiting = list_batch_positions(handler, consumer, upto)
    poison = apply_until_poison(functools.partial(_apply, handler), positions)
    last = upto if poison is None else poison.pos - 1
    if waiting:
        park_waiting_events(handler, after=consumer.position, upto=last)
    outcome, last, failing = _judge(consumer, poison, last)
    advance_cursor(consumer, upto=last, head=head, failing=failing)
    if positions:
        fault_point("in_batch")
    applied = len(positions) if poison is None else positions.index(poison.pos)
    return Progress(outcome, applied, last, head.pos)


def _judge(consumer: Consumer, poison: Poison | None, last: int) -> tuple[BatchOutcome, int, Failing | None]:
    """Say how the batch ended and where the cursor goes; park the subject of an event that failed too often."""
    if poison is None:
        return (BatchOutcome.ADVANCED if last > consumer.position else BatchOutcome.NOTHING_NEW), last, None
    tries = count_tries(poison, failing_pos=consumer.failing_pos, failing_tries=consumer.failing_tries)
    if tries < MOST_TRIES:
        return BatchOutcome.FAILING, last, Failing(poison.pos, tries, poison.description)
    park_subject(consumer.name, poison, tries=tries)
    return BatchOutcome.PARKED, poison.pos, None


def list_batch_positions(handler: ConsumerHandler, consumer: Consumer, upto: int) -> tuple[list[int], int]:
    """Return the positions up to `upto` that the handler works on, and how many others wait with parked subjects."""
    parameters = {
        "name": handler.name,
        "kinds": list(handler.kinds),
        "after": consumer.position,
        "upto": upto,
    }
    with connection.cursor() as cursor:
        positions, waiting = fetch_row(cursor, "outbox", "list_batch_positions", parameters)
    return positions, waiting


def _apply(handler: ConsumerHandler, positions: Sequence[int]) -> None:
    handler.apply(Batch(positions, bind_live_tables(handler)))
