"""A consumer's row: its cursor, locked for the length of a batch, and what a person may tell it.

Whoever holds the row's lock is the only instance at work. The lock is let go by the commit that also moves the cursor, or by the server
when the process dies or freezes; in both cases the cursor stands where the work stands.
"""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Literal

from django.db import connection, transaction

from outbox.consumers.consumer import ConsumerHandler
from outbox.db import find_row, load_sql
from outbox.errors import CursorMoved
from outbox.log.reading import Position, get_head, refuse_foreign_position
from outbox.models.consumers import Consumer, ConsumerState

FROZEN_BATCH_ENDS_AFTER = timedelta(seconds=10)  # so long a handler may think between two statements


@dataclasses.dataclass(frozen=True, slots=True)
class Look:
    """What a consumer's row and the log say now, read without a lock."""

    cursor: Position
    state: str
    generation: int
    head: Position
    heartbeat_due: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Failing:
    """The event a consumer fails at, how often it has tried, and the last error."""

    pos: int | None = None
    tries: int = 0
    error: str = ""


def register_consumer(handler: ConsumerHandler) -> None:
    """Make the consumer's row if it has none, at the beginning of the log: a new consumer reads all of it."""
    with connection.cursor() as cursor:
        budget = handler.staleness_budget.total_seconds()
        cursor.execute(load_sql("outbox", "register_consumer"), {"name": handler.name, "budget": budget})


def find_look(name: str) -> Look | None:
    """Return what there is to know before taking a lock; None when the consumer never ran."""
    with connection.cursor() as cursor:
        row = find_row(cursor, "outbox", "look_at_consumer", {"name": name})
    if row is None:
        return None
    return Look(
        cursor=Position(*row[:3]),
        state=row[3],
        generation=row[4],
        head=Position(*row[5:8]),
        heartbeat_due=row[8],
    )


@contextmanager
def batch_transaction(*, durability: Literal["local", "off"] = "local") -> Iterator[None]:
    """Open the transaction of one batch, which a frozen process cannot hold for long."""
    with transaction.atomic():
        idle = f"{FROZEN_BATCH_ENDS_AFTER.total_seconds() * 1000:.0f}ms"
        with connection.cursor() as cursor:
            cursor.execute(load_sql("outbox", "begin_batch"), {"durability": durability, "idle": idle})
        yield


def lock_consumer(name: str) -> Consumer:
    """Take the consumer's row, after whoever has it now. Raises Consumer.DoesNotExist for one that never ran.

    Needs a transaction.
    """
    return Consumer.objects.select_for_update().get(name=name)


def find_unlocked_consumer(name: str) -> Consumer | None:
    """Take the consumer's row unless another instance has it; never waits."""
    return Consumer.objects.select_for_update(skip_locked=True).filter(name=name).first()


def get_checked_head(consumer: Consumer) -> Position:
    """Return the head of the log; raise when the consumer's cursor is not one of this log.

    Read after the row was locked: a head read before could be older than the cursor another instance has left there.
    """
    head = get_head()
    refuse_foreign_position(Position(consumer.epoch, consumer.shard, consumer.position), head)
    return head


def advance_cursor(consumer: Consumer, *, upto: int, head: Position, failing: Failing | None = None) -> None:
    """Move the cursor and beat, guarded by everything the batch began with. Raises CursorMoved when that is gone."""
    failing = failing or Failing()
    parameters: dict[str, Any] = {
        "name": consumer.name,
        "epoch": consumer.epoch,
        "generation": consumer.generation,
        "after": consumer.position,
        "upto": upto,
        "at_head": upto >= head.pos,
        "failing_pos": failing.pos,
        "failing_tries": failing.tries,
        "failing_error": failing.error,
    }
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "advance_cursor"), parameters)
        if cursor.rowcount != 1:
            raise CursorMoved(f"The cursor of {consumer.name} is no longer at {consumer.position}.")


def pause_consumer(name: str) -> None:
    """Stop a consumer after its running batch; it stays where it is until somebody resumes it."""
    with transaction.atomic():
        consumer = lock_consumer(name)
        consumer.state = ConsumerState.PAUSED
        consumer.save(update_fields=["state"])


def resume_consumer(name: str) -> None:
    """Let a paused consumer go on with what it was doing: following the log, or filling its emptied tables."""
    with transaction.atomic():
        consumer = lock_consumer(name)
        consumer.state = ConsumerState.REBUILDING if consumer.is_filling else ConsumerState.RUNNING
        consumer.save(update_fields=["state"])


def adopt_epoch(name: str) -> Position:
    """Accept the log's new epoch for a consumer whose cursor was restored together with the log; return its position.

    Only right for cursors that live in the same database as the log they read: there, both come from the same moment.
    """
    with transaction.atomic():
        consumer = lock_consumer(name)
        head = get_head()
        position = Position(head.epoch, head.shard, consumer.position)
        refuse_foreign_position(position, head)
        consumer.epoch, consumer.shard = head.epoch, head.shard
        consumer.save(update_fields=["epoch", "shard"])
    return position
