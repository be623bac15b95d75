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

from outbox.db import find_row, load_sql
from outbox.errors import CursorAheadOfLog, CursorOfAnotherEpoch
from outbox.log.upcasting import upcast


@dataclasses.dataclass(frozen=True, slots=True)
class Position:
    """A place in the log. Without an order on purpose: positions of two epochs or shards cannot be compared."""

    epoch: int = 0
    shard: int = 0
    pos: int = 0

    def __str__(self) -> str:
        return f"{self.epoch}.{self.shard}.{self.pos}"


@dataclasses.dataclass(frozen=True, slots=True)
class StoredEvent:
    """One event as the log has it, with the position it was given; an older version is said in the newest (`outbox.log.upcasting`)."""

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


@dataclasses.dataclass(frozen=True, slots=True)
class LogEntry:
    """Where an event stands, and the digest of the tick that sealed it with everything before it."""

    position: Position
    tick_id: int
    tick_digest: bytes


def get_head() -> Position:
    """Return the last position of the log as this transaction sees it; position 0 when it is empty."""
    with connection.cursor() as cursor:
        row = find_row(cursor, "outbox", "get_head", {})
    return Position(*row) if row else Position()


def read_events(after: Position, limit: int) -> list[StoredEvent]:
    """Return up to `limit` events after a position, in order. Raises when the position is not one of this log."""
    refuse_foreign_position(after, get_head())
    return _read("read_events", {"after": after.pos, "limit": limit})


def list_events_at(positions: Sequence[int]) -> list[StoredEvent]:
    """Return the events at these positions, in order of position."""
    if not positions:
        return []
    return _read(
        "list_events_at", {"positions": list(positions), "first": min(positions), "last": max(positions)}
    )


def find_entry(event_id: UUID) -> LogEntry | None:
    """Return an event's place in the log, None while the sequencer has not numbered it."""
    with connection.cursor() as cursor:
        row = find_row(cursor, "outbox", "find_entry", {"event_id": event_id})
    return LogEntry(Position(*row[:3]), *row[3:]) if row else None


def refuse_foreign_position(position: Position, head: Position) -> None:
    """Raise when a cursor cannot be one of this log: of another epoch or shard, or past its end."""
    if (position.epoch, position.shard) != (head.epoch, head.shard):
        raise CursorOfAnotherEpoch(
            f"The cursor is {position}, but the log is in epoch {head.epoch} (its head is {head}): it was restored or moved."
        )
    if position.pos > head.pos:
        raise CursorAheadOfLog(f"The cursor is {position}, but the log ends at {head}.")


def _read(statement: str, parameters: dict[str, Any]) -> list[StoredEvent]:
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", statement), parameters)
        return [_as_event(row) for row in cursor.fetchall()]


def _as_event(row: tuple[Any, ...]) -> StoredEvent:
    pos, event_id, kind, version, *columns, stored = row
    payload = json.loads(stored)  # Django leaves jsonb as text on a plain cursor
    version, payload = upcast(kind, version, payload)
    return StoredEvent(*(pos, event_id, kind, version, *columns, payload))
