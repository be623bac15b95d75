"""Parking: a subject whose event failed three times waits with all its later events, and nobody else waits with it.

Everything here runs under the consumer's row lock, so no batch parks an event while a release replays.
"""

import dataclasses
import logging
from collections.abc import Sequence
from typing import Any

from django.db import connection

from outbox.consumers.consumer import Batch, ConsumerHandler
from outbox.consumers.cursors import batch_transaction, lock_consumer
from outbox.consumers.poison import Poison, apply_until_poison
from outbox.consumers.tables import bind_live_tables
from outbox.db import fetch_row, load_sql
from outbox.models.consumers import ParkedEvent, ParkedSubject

logger = logging.getLogger(__name__)

REPLAYED_AT_ONCE = 500


@dataclasses.dataclass(frozen=True, slots=True)
class Release:
    """How a release ended: how many events were replayed, and the one that failed again, if any."""

    replayed: int
    poison: Poison | None = None


def park_subject(name: str, poison: Poison, *, tries: int) -> str:
    """Park the subject of an event and return it. Needs the consumer's lock."""
    parameters = {"name": name, "pos": poison.pos, "error": poison.description, "tries": tries}
    with connection.cursor() as cursor:
        (subject,) = fetch_row(cursor, "outbox", "park_subject", parameters)
    logger.error("%s parked %s at position %d: %s", name, subject, poison.pos, poison.headline)
    return str(subject)


def park_waiting_events(handler: ConsumerHandler, *, after: int, upto: int) -> None:
    """Set aside the events of parked subjects in a range. Needs the consumer's lock."""
    parameters: dict[str, Any] = {
        "name": handler.name,
        "kinds": list(handler.kinds),
        "after": after,
        "upto": upto,
    }
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "park_waiting_events"), parameters)


def list_parked_subjects(name: str) -> list[ParkedSubject]:
    """Return a consumer's parked subjects, the longest parked first."""
    return list(ParkedSubject.objects.filter(consumer=name).order_by("parked_at", "subject"))


def release_subject(handler: ConsumerHandler, subject: str) -> Release:
    """Replay a parked subject's events in order; it is free when all went well, else it stays parked from the failing one on.

    Raises ParkedSubject.DoesNotExist. Works through the events a few hundred at a time, each in a transaction of its own.
    """
    replayed = 0
    while True:
        with batch_transaction():
            lock_consumer(handler.name)
            parked = ParkedSubject.objects.get(consumer=handler.name, subject=subject)
            release = _replay_some(handler, parked)
        replayed += release.replayed
        if release.poison or not release.replayed:
            return Release(replayed, release.poison)


def _replay_some(handler: ConsumerHandler, parked: ParkedSubject) -> Release:
    """Replay the next few events; forget the subject once none are left."""
    positions = list(parked.events.order_by("pos").values_list("pos", flat=True)[:REPLAYED_AT_ONCE])
    if not positions:
        parked.delete()
        return Release(0)
    tables = bind_live_tables(handler)
    poison = apply_until_poison(lambda some: handler.apply(Batch(some, tables)), positions)
    done = [pos for pos in positions if poison is None or pos < poison.pos]
    _forget(parked, done)
    if poison:
        parked.tries += 1
        parked.error = poison.description
        parked.save(update_fields=["tries", "error"])
    return Release(len(done), poison)


def _forget(parked: ParkedSubject, positions: Sequence[int]) -> None:
    ParkedEvent.objects.filter(parked_subject=parked, pos__in=positions).delete()
