"""Rebuilding a projection in place: empty its tables, set its cursor to 0, and let the log fill them again.

The first two are one commit, which also bumps the generation. The rest are ordinary batches, so it may be interrupted anywhere: run it
again, or leave it to the consumer that runs anyway. Readers see a growing table and a status that says "rebuilding"; to spare
them that, rebuild beside (`outbox.consumers.beside`).
"""

from collections.abc import Callable
from typing import Final

from django.db import DatabaseError, connection, transaction
from psycopg import sql

from outbox.consumers.batches import run_batch
from outbox.consumers.consumer import ConsumerHandler, Projection
from outbox.consumers.cursors import find_look, lock_consumer, register_consumer
from outbox.consumers.tables import bind_live_tables, get_projection
from outbox.db import LOCK_NOT_AVAILABLE, bind_tables, find_sqlstate, load_sql
from outbox.errors import RebuildFailed
from outbox.log.reading import get_head
from outbox.loop import run_loop
from outbox.models.consumers import ConsumerState, ParkedSubject
from outbox.stopping import Stop

REPLAYED_AT_ONCE: Final = 100_000  # in spans of 10,000 an event costs the figures twice as much
PATIENCE_WITH_READERS: Final = "10s"

Report = Callable[[int, int], object]  # (position, head), after every batch


def rebuild(handler: ConsumerHandler, stop: Stop, *, report: Report) -> bool:
    """Empty the projection and replay the log into it; return False when told to stop before the head was reached.

    Raises NotRebuildable for a consumer without tables, RebuildFailed when somebody interferes.
    """
    projection = get_projection(handler)
    generation = begin_rebuild(projection)
    return _replay(projection, generation, stop, report)


def begin_rebuild(projection: Projection) -> int:
    """Empty the tables, set the cursor to 0 in the log's present epoch and free what is parked, in one commit.

    Waits for a running batch of the old generation, then for readers of the tables, in that order, as every batch does. Returns
    the new generation.
    """
    register_consumer(projection)
    try:
        with transaction.atomic():
            return _begin(projection)
    except DatabaseError as error:
        if find_sqlstate(error) != LOCK_NOT_AVAILABLE:
            raise
        message = (
            f"Somebody held {projection.name} or its tables for {PATIENCE_WITH_READERS}: nothing was changed."
        )
        raise RebuildFailed(message) from error


def _begin(projection: Projection) -> int:
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "limit_lock_wait"), {"patience": PATIENCE_WITH_READERS})
        consumer = lock_consumer(projection.name)
        head = get_head()
        consumer.epoch, consumer.shard, consumer.position = head.epoch, head.shard, 0
        consumer.generation += 1
        consumer.state, consumer.is_filling = ConsumerState.REBUILDING, True
        consumer.failing_pos, consumer.failing_tries, consumer.failing_error = None, 0, ""
        consumer.save()
        ParkedSubject.objects.filter(consumer=consumer).delete()
        tables = sql.SQL(", ").join(bind_live_tables(projection).values())
        cursor.execute(bind_tables(load_sql("outbox", "empty_tables"), {"tables": tables}))
    return consumer.generation


def _replay(projection: Projection, generation: int, stop: Stop, report: Report) -> bool:
    complete = False

    def step() -> bool:
        nonlocal complete
        progress = run_batch(projection, limit=REPLAYED_AT_ONCE, durability="off")
        complete = _is_complete(projection.name, generation, report)
        if complete:
            stop.set()
        return progress.more

    run_loop(step, stop)
    return complete


def _is_complete(name: str, generation: int, report: Report) -> bool:
    """Say whether the head was reached, by us or by another instance: whoever reaches it writes that down."""
    look = find_look(name)
    if look is None or look.generation != generation:
        raise RebuildFailed(f"Another rebuild of {name} began meanwhile; that one goes on.")
    report(look.cursor.pos, look.head.pos)
    if look.state == ConsumerState.PAUSED:
        raise RebuildFailed(
            f"{name} was paused at position {look.cursor.pos}. Resume it and it goes on from there."
        )
    return look.state == ConsumerState.RUNNING
