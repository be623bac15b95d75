"""How the relay and the effects are, in the figures an operator alarms on: ages first, then counts."""

import dataclasses
from datetime import timedelta

from django.db import connection

from outbox.consumers.staleness import get_consumer_status
from outbox.db import load_sql
from outbox.effects.relay import NAME


@dataclasses.dataclass(frozen=True, slots=True)
class EffectStatus:
    """One effect: how many receipts are in each state but done, and how old the oldest of those that have not happened is."""

    name: str
    pending: int
    trying: int
    failed: int
    refused: int
    oldest: timedelta


@dataclasses.dataclass(frozen=True, slots=True)
class RelayStatus:
    """`age` is that of the oldest event the relay has not handed on; `effects` holds those with anything that is not done, by name."""

    age: timedelta
    is_stale: bool
    effects: tuple[EffectStatus, ...]

    @property
    def failed(self) -> int:
        """How many effects failed for good and wait for a person."""
        return sum(effect.failed for effect in self.effects)

    @property
    def refused(self) -> int:
        """How many were refused lately: no fault, and nobody has to do anything."""
        return sum(effect.refused for effect in self.effects)


def get_relay_status() -> RelayStatus:
    """Return how the relay is, in two queries."""
    consumer = get_consumer_status(NAME)
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "count_open_effects"))
        rows = cursor.fetchall()
    effects = tuple(
        EffectStatus(name, pending, trying, failed, refused, timedelta(seconds=oldest))
        for name, pending, trying, failed, refused, oldest in rows
    )
    return RelayStatus(consumer.staleness, consumer.is_stale, effects)
