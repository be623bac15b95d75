"""Filling an emptied projection a whole span of the log at a time: the quick way through a rebuild, taken where it is safe.

It is, while the tables are being filled from the start and nothing is parked: then each event of the span has to be written, and none can
be there already. Whatever fails is undone and left to the careful way (`outbox.batches`), which names the event.
"""

import logging

from django.db import transaction

from outbox.consumer import ConsumerHandler, FillableProjection, Span
from outbox.db import check_deferred_constraints, is_transient
from outbox.models.consumers import Consumer
from outbox.tables import bind_live_tables

logger = logging.getLogger(__name__)


def try_fill(handler: ConsumerHandler, consumer: Consumer, upto: int) -> int | None:
    """Fill from the cursor up to a position and return how many events there were; None when it must be done with care.

    Needs the consumer's lock.
    """
    if not (consumer.is_filling and isinstance(handler, FillableProjection)):
        return None
    if upto == consumer.position or consumer.parked_subjects.exists():
        return None
    span = Span(consumer.position + 1, upto, handler.kinds, bind_live_tables(handler))
    return _fill(handler, span)


def _fill(handler: FillableProjection, span: Span) -> int | None:
    try:
        with transaction.atomic():
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
