"""Jobs that were given up: reading them, and doing one again by hand when the cause is gone."""

import dataclasses
import datetime as dt
from collections.abc import Iterable
from enum import StrEnum
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from outbox.db import database_now
from outbox.models.jobs import DeadLetter, Lane
from outbox.queue.jobs import NewJob, enqueue

REPLAYS_PER_SECOND = 50.0  # what died together, of one cause, must not come back together


class Replayed(StrEnum):
    """What came of asking for one dead letter to be done again."""

    QUEUED = "queued"
    ALREADY_WAITING = "already_waiting"  # the same job is in the queue again, by another way
    ALREADY_REPLAYED = "already_replayed"
    UNKNOWN = "unknown"


def list_dead_letters(
    *, kind: str | None = None, cause: str | None = None, replayed: bool = False
) -> QuerySet[DeadLetter]:
    """Return the open dead letters (or those replayed), oldest first."""
    letters = DeadLetter.objects.filter(replayed_at__isnull=not replayed).order_by("died_at", "id")
    if kind:
        letters = letters.filter(kind=kind)
    if cause:
        letters = letters.filter(cause=cause)
    return letters


def find_dead_letter(dead_letter_id: UUID) -> DeadLetter | None:
    """Return one dead letter, or None."""
    return DeadLetter.objects.filter(id=dead_letter_id).first()


def replay_dead_letters(
    *, ids: Iterable[UUID], by: UUID | None, lane: Lane = Lane.BACKLOG, per_second: float = REPLAYS_PER_SECOND
) -> dict[UUID, Replayed]:
    """Put the jobs back into the queue as if they were new, each in a transaction of its own; say what came of each.

    They are due one after the other, so many a second from now, behind fresh work. `by` is the person who asked, if it was one.
    The letter stays, closed, as the record of the first life.
    """
    start, replayed, queued = database_now(), dict[UUID, Replayed](), 0
    for dead_letter_id in ids:
        due = start + dt.timedelta(seconds=queued / per_second)
        replayed[dead_letter_id] = _replay(dead_letter_id, by=by, lane=lane, run_at=due)
        queued += replayed[dead_letter_id] is Replayed.QUEUED
    return replayed


@transaction.atomic
def _replay(dead_letter_id: UUID, *, by: UUID | None, lane: Lane, run_at: dt.datetime) -> Replayed:
    """Replay one. Locks the letter, so that two people asking at once make one job."""
    letter = DeadLetter.objects.select_for_update().filter(id=dead_letter_id).first()
    if letter is None:
        return Replayed.UNKNOWN
    if letter.replayed_at:
        return Replayed.ALREADY_REPLAYED
    queued = enqueue([_as_new_job(letter, lane, run_at)])
    DeadLetter.objects.filter(id=letter.id).update(replayed_at=Now(), replayed_by=by)
    return Replayed.QUEUED if queued else Replayed.ALREADY_WAITING


def _as_new_job(letter: DeadLetter, lane: Lane, run_at: dt.datetime) -> NewJob:
    names = {field.name for field in dataclasses.fields(NewJob)} - {"lane", "run_at"}
    return NewJob(lane=lane, run_at=run_at, **{name: getattr(letter, name) for name in names})
