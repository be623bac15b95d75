"""Making everything happen that follows from what was written so far, as the relay's own process does."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import transaction

from exams.events import AttemptFact
from exams.models import Attempt
from exams.services.facts import describe, event_of
from outbox.consumers.batches import run_batch
from outbox.effects import list_effects
from outbox.effects.relay import Relay
from outbox.effects.running import run_due_effects
from outbox.log.publish import Actor, publish
from outbox.log.sequencer import sequence_events
from outbox.models import EffectReceipt
from outbox.models.log import ActorType


def make_happen() -> None:
    """Number the events, let the relay read them, and try every effect that is due."""
    sequence_events()
    while run_batch(Relay()).more:
        pass
    while run_due_effects(list_effects()):
        pass


def list_ends(*names: str) -> list[tuple[str, str, str]]:
    """Return (effect, state, error) of all receipts of these effects, in the order of their events."""
    receipts = EffectReceipt.objects.filter(effect__in=names).order_by("pos", "effect")
    return list(receipts.values_list("effect", "state", "error"))


def note(attempt: Attempt, kind: type[AttemptFact], **fields: Any) -> UUID:
    """Write a fact about an attempt into the log; return the event's id."""
    with transaction.atomic():
        attempt.refresh_from_db()
        fact = kind(**describe(attempt), **fields)
        (event_id,) = publish([event_of(attempt, fact, by=Actor(ActorType.POLICY))])
        Attempt.objects.filter(pk=attempt.pk).update(version=attempt.version + 1)
        attempt.refresh_from_db()
    return event_id


def only(items: Iterable[Any]) -> Any:
    """Return the one there is."""
    (item,) = items
    return item
