"""Filling an emptied projection a whole span of the log at a time: the quick way through a rebuild, taken where it is safe.

It is, while the tables are being filled from the start and nothing is parked: then each event of the span has to be written, and none can
be there already. Whatever fails is undone and left to the careful way (`outbox.consumers.batches`), which names the event.
"""

import logging
from typing import Final

from django.db import connection, transaction

from outbox.consumers.consumer import ConsumerHandler, FillableProjection, Span
from outbox.consumers.tables import bind_live_tables
from outbox.db import check_deferred_constraints, fetch_row, is_transient, load_sql
from outbox.models.consumers import Consumer

logger = logging.getLogger(__name__)

MEMORY: Final = "64MB"  # for each sort and hash of a statement: a span's events, without what the statement does not keep of them


def try_fill(handler: ConsumerHandler, consumer: Consumer, upto: int) -> int | None:
    """Fill from the cursor up to a position and return how many events there were; None when it must be done with care.

    Needs the consumer's lock.
    """
    if not (consumer.is_filling and isinstance(handler, FillableProjection)):
        return None
    if upto == consumer.position or consumer.parked_subjects.exists():
        return None
    return _fill(handler, _find_span(handler, consumer.position + 1, upto))


def _find_span(handler: FillableProjection, first: int, last: int) -> Span:
    with connection.cursor() as cursor:
        first_seq, last_seq, _ = fetch_row(cursor, "outbox", "find_span", {"first": first, "last": last})
    return Span(first, last, first_seq, last_seq, handler.kinds, bind_live_tables(handler))


def _fill(handler: FillableProjection, span: Span) -> int | None:
    try:
        with transaction.atomic():
            _take_memory()
            filled = handler.fill(span)
            check_deferred_constraints()
    except Exception as error:
        if is_transient(error):
            raise
        logger.warning(
            "%s: something from %d to %d fails; looking for it", handler.name, span.first, span.last
        )
        return None
    return filled


def _take_memory() -> None:
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "begin_filling"), {"memory": MEMORY})
