"""How a state change enters the log: `publish()` appends events in the transaction that made the change.

The one rule: lock the subject's row (or insert its new version) *before* calling this, so that the
sequence number is taken under that lock. The proof of per-subject order needs it (ADR 0001).
"""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from uuid_utils.compat import uuid7

from outbox.correlation import find_correlation_id
from outbox.db import require_transaction, run_together
from outbox.models.log import ActorType


@dataclasses.dataclass(frozen=True, slots=True)
class Actor:
    """Who caused a change. A person is always named."""

    type: ActorType
    id: UUID | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class NewEvent:
    """One event to append: an immutable fact about `subject` at `subject_version`."""

    kind: str
    subject: str
    subject_version: int
    actor: Actor
    payload: Mapping[str, Any]
    tenant_id: UUID | None = None
    schema_version: int = 1
    batch_id: UUID | None = None
    cause_id: UUID | None = None
    correlation_id: UUID | None = dataclasses.field(default_factory=find_correlation_id)
    event_id: UUID = dataclasses.field(default_factory=uuid7)


APPEND_EVENTS: Final = ("outbox", "append_events")


def publish(events: Iterable[NewEvent]) -> list[UUID]:
    """Append events to the log, in the order given; return their ids. Needs a transaction."""
    rows = list(events)
    require_transaction()
    if rows:
        run_together([APPEND_EVENTS], events_to_append(rows))
    return [event.event_id for event in rows]


def events_to_append(events: Iterable[NewEvent]) -> dict[str, str]:
    """Return the parameters of `APPEND_EVENTS`, for who sends it together with the writes it tells of (`outbox.db.run_together`)."""
    return {"events": json.dumps([_as_row(event) for event in events], cls=DjangoJSONEncoder)}


def _as_row(event: NewEvent) -> dict[str, Any]:
    row = {name: getattr(event, name) for name in _COLUMNS}
    return row | {"actor_type": event.actor.type, "actor_id": event.actor.id}


_COLUMNS: Final = tuple(name for name in NewEvent.__dataclass_fields__ if name != "actor")
