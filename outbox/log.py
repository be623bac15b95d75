"""Reading the log: by position, and by nothing else.

A position is dense and final: whoever sees position 7 sees 1 to 6 too, on a standby as well (ADR 0001). Sequence numbers and
transaction ids never leave this app.
"""

import dataclasses
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from outbox.db import load_sql


@dataclasses.dataclass(frozen=True, order=True, slots=True)
class Position:
    """A place in the log. Positions of different epochs cannot be compared by anybody but a person."""

    epoch: int = 0
    shard: int = 0
    pos: int = 0

    def __str__(self) -> str:
        return f"{self.epoch}.{self.shard}.{self.pos}"


@dataclasses.dataclass(frozen=True, slots=True)
class StoredEvent:
    """One event as the log has it, with the position it was given."""

    pos: int
    event_id: UUID
    kind: str
    schema_version: int
    subject: str
    subject_version: int
    tenant_id: UUID | None
    actor_type: str
    actor_id: UUID | None
    batch_id: UUID | None
    cause_id: UUID | None
    correlation_id: UUID | None
    occurred_at: datetime
    payload: dict[str, Any]


def list_events_at(positions: Sequence[int]) -> list[StoredEvent]:
    """Return the events at these positions, in order of position."""
    return _read("list_events_at", {"positions": list(positions)})


def _read(statement: str, parameters: dict[str, Any]) -> list[StoredEvent]:
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", statement), parameters)
        return [_as_event(row) for row in cursor.fetchall()]


def _as_event(row: tuple[Any, ...]) -> StoredEvent:
    *columns, payload = row
    return StoredEvent(*(*columns, json.loads(payload)))  # Django leaves jsonb as text on a plain cursor
