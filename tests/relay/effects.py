"""Effects for the tests, registered for a while, and events to cause them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from outbox.consumers.batches import run_batch
from outbox.effects import Delivery, Effect, register_effect, unregister_effect
from outbox.effects.relay import Relay
from outbox.log.publish import Actor, NewEvent, publish
from outbox.log.sequencer import sequence_events
from outbox.models import EffectReceipt
from outbox.models.log import ActorType

CAUSED = "SomethingCaused"


class Doings:
    """What an effect of the tests did, and what it shall do: `errors` are raised first, one a try."""

    def __init__(self) -> None:
        self.done: list[Delivery] = []
        self.errors: list[Exception] = []
        self.interrupt: Callable[[Delivery], None] | None = None

    def run(self, delivery: Delivery) -> None:
        if self.interrupt:
            self.interrupt(delivery)
        if self.errors:
            raise self.errors.pop(0)
        self.done.append(delivery)

    @property
    def event_ids(self) -> list[UUID]:
        return [delivery.event.event_id for delivery in self.done]


Make = Callable[..., Doings]


@pytest.fixture
def make_effect() -> Iterator[Make]:
    """Register effects of `CAUSED` for the length of a test."""
    names: list[str] = []

    def make(name: str = "tell", **fields: Any) -> Doings:
        doings = Doings()
        register_effect(Effect(name, frozenset({CAUSED}), doings.run, **fields))
        names.append(name)
        return doings

    yield make
    for name in names:
        unregister_effect(name)


def cause(count: int = 1, *, tenant_id: UUID | None = None) -> list[UUID]:
    """Write so many events, each with a subject of its own; return their ids, numbered and in order."""
    events = [
        NewEvent(CAUSED, f"thing:{uuid4()}", 1, Actor(ActorType.POLICY), {"n": n}, tenant_id=tenant_id)
        for n in range(count)
    ]
    with transaction.atomic():
        ids = publish(events)
    sequence_events()
    return ids


def relay_all(relay: Relay | None = None) -> None:
    """Let the relay catch up."""
    handler = relay or Relay()
    while run_batch(handler).more:
        pass


def list_receipts() -> Sequence[tuple[UUID, str, str, int]]:
    """Return (event, effect, state, tries) of all receipts, in the order they were noted."""
    return list(
        EffectReceipt.objects.order_by("pos", "effect", "target").values_list(
            "event_id", "effect", "state", "tries"
        )
    )
