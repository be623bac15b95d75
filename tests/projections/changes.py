"""Mark changes as events, straight into the log: what the projection reads, without the gradebook behind it."""

import dataclasses
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from psycopg import sql

from gradebook.events import CellState, MarkChanged, Reason, cell_subject
from outbox.consumers.consumer import Batch
from outbox.log.publish import Actor, NewEvent, publish
from outbox.log.sequencer import sequence_events
from outbox.models import EventPosition
from outbox.models.log import ActorType
from projections.history.projector import HISTORY_TABLE, MarksheetHistory
from projections.models import MarkHistory


@dataclasses.dataclass
class Cell:
    """One cell whose changes a test writes; it remembers what it showed and its version."""

    sheet_id: UUID = dataclasses.field(default_factory=uuid4)
    column_id: UUID = dataclasses.field(default_factory=uuid4)
    student_id: UUID = dataclasses.field(default_factory=uuid4)
    teacher_id: UUID = dataclasses.field(default_factory=uuid4)
    student_name: str = "Ada Lovelace"
    shown: CellState | None = None
    version: int = 0

    def change(
        self, value: str | None = None, code: str = "", reason: Reason = "typed", origin: str = ""
    ) -> NewEvent:
        """Return the event of the next change of this cell."""
        old, self.shown = self.shown, CellState(value=value, code=code, source="teacher")
        self.version += 1
        fact = MarkChanged(
            school_id=self.sheet_id,
            sheet_id=self.sheet_id,
            column_id=self.column_id,
            student_id=self.student_id,
            column_title="Essay",
            student_name=self.student_name,
            actor_name="Grace Hopper",
            old=old,
            new=self.shown,
            automatic_value=None,
            reason=reason,
            origin=origin,
        )
        return NewEvent(
            kind=fact.kind,
            schema_version=fact.version,
            subject=cell_subject(self.column_id, self.student_id),
            subject_version=self.version,
            actor=Actor(ActorType.PERSON, self.teacher_id),
            payload=fact.payload(),
        )


def record(*events: NewEvent) -> list[int]:
    """Publish the events in one transaction, number them, and return the positions they got."""
    before = EventPosition.objects.count()
    with transaction.atomic():
        publish(events)
    sequence_events()
    return list(EventPosition.objects.filter(pos__gt=before).order_by("pos").values_list("pos", flat=True))


def project(positions: Sequence[int]) -> None:
    """Apply one batch to the live table, in its own transaction, as the runner does."""
    with transaction.atomic():
        MarksheetHistory().apply(Batch(positions, {HISTORY_TABLE: sql.Identifier(HISTORY_TABLE)}))


def lines() -> list[dict[str, Any]]:
    """Return the whole table, by position."""
    return [dict(line) for line in MarkHistory.objects.order_by("pos").values()]


def brief() -> list[tuple[str | None, str, str | None, str]]:
    """Return each line's old and new mark, oldest first."""
    return [
        (_text(line["old_value"]), line["old_code"], _text(line["new_value"]), line["new_code"])
        for line in lines()
    ]


def _text(value: Any) -> str | None:
    return None if value is None else f"{value.normalize():f}"
