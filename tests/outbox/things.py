"""Events of an imaginary domain, small and valid: things that get noted. The log knows no school words, nor do its tests."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import transaction

from outbox.log.publish import Actor, NewEvent, publish
from outbox.models.log import ActorType

POLICY = Actor(ActorType.POLICY)
NOTED = "ThingNoted"


def new_event(subject: str = "thing:1", version: int = 1, *, kind: str = NOTED, **payload: Any) -> NewEvent:
    """Make the smallest valid event; keyword arguments are its payload."""
    return NewEvent(kind=kind, subject=subject, subject_version=version, actor=POLICY, payload=payload)


def append(events: Iterable[NewEvent]) -> list[UUID]:
    """Append events in a transaction of their own, committed when this returns."""
    with transaction.atomic():
        return publish(events)


def append_things(count: int, *, subject: str = "thing:1", first: int = 1, kind: str = NOTED) -> list[UUID]:
    """Append `count` versions of one subject in one transaction."""
    return append(new_event(subject, version, kind=kind) for version in range(first, first + count))
