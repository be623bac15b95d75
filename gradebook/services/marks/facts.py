"""The event of one changed cell, built from what the row held before and holds now, and the one way such events are recorded."""

import dataclasses
import datetime as dt
from collections.abc import Iterable, Mapping
from uuid import UUID

from gradebook.cells import StoredCell
from gradebook.entries import plain
from gradebook.events import CellState, MarkChanged, Reason, cell_subject
from gradebook.services.marks.rows import WRITE_CELLS, cells_to_write
from gradebook.snapshots.phases import CUTOVER, SHARE_CUTOVER, Phase
from gradebook.snapshots.writing import keep_copies
from outbox.db import require_transaction, run_together
from outbox.log.publish import APPEND_EVENTS, Actor, NewEvent, events_to_append


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """A locked cell as it was and as it is written, and why; `origin` is the place in a file, where it came from one."""

    before: StoredCell
    after: StoredCell
    reason: Reason
    cause_id: UUID | None = None
    origin: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Names:
    """The words a fact carries so that it can be read without the live tables."""

    school_id: UUID
    column_title: str
    student_name: str
    actor_name: str


def describe_change(change: Change, names: Names, *, by: Actor, batch_id: UUID) -> NewEvent:
    """Return the `MarkChanged` event of one changed cell, ready to be published."""
    before, after = change.before, change.after
    fact = MarkChanged(
        school_id=names.school_id,
        sheet_id=after.sheet_id,
        column_id=after.key.column_id,
        student_id=after.key.student_id,
        column_title=names.column_title,
        student_name=names.student_name,
        actor_name=names.actor_name,
        old=None if before.is_new else _state(before),
        new=_state(after),
        automatic_value=None if after.automatic_value is None else plain(after.automatic_value),
        reason=change.reason,
        origin=change.origin,
    )
    return NewEvent(
        kind=MarkChanged.kind,
        schema_version=MarkChanged.version,
        subject=cell_subject(after.key.column_id, after.key.student_id),
        subject_version=after.version,
        actor=by,
        payload=fact.payload(),
        tenant_id=names.school_id,
        batch_id=batch_id,
        cause_id=change.cause_id,
    )


def record_changes(cells: Iterable[StoredCell], events: Iterable[NewEvent]) -> Mapping[UUID, dt.datetime]:
    """Write locked cells and publish the events of that batch, in one round trip; while the cut-over lasts, copy the sheets they changed.

    Every door ends here. Returns the time of each row's last visible change, by row id.
    """
    published = list(events)
    if not published:
        return {}
    require_transaction()
    parameters = {**cells_to_write(cells), **events_to_append(published), **CUTOVER}
    times, _, ((phase,),) = run_together([WRITE_CELLS, APPEND_EVENTS, SHARE_CUTOVER], parameters)
    if Phase(phase).keeps_copies:
        _copy(published)
    return dict(times)


def _copy(published: Iterable[NewEvent]) -> None:
    """Copy the sheets; a result kept beside a teacher's mark changes nothing that a copy shows."""
    shown = [event for event in published if event.payload["reason"] != "kept_beside"]
    if shown:
        first = shown[0]
        assert first.batch_id is not None
        keep_copies(
            {event.payload["sheet_id"] for event in shown},
            reasons=[event.payload["reason"] for event in shown],
            batch_id=first.batch_id,
            by_id=first.actor.id,
            by_name=first.payload["actor_name"],
        )


def _state(cell: StoredCell) -> CellState:
    value = cell.entry.value
    return CellState(value=None if value is None else plain(value), code=cell.entry.code, source=cell.source)
