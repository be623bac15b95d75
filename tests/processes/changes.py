"""Mark changes of imaginary cells, as the log has them: what real sequencer and consumer processes are fed with."""

from collections.abc import Iterable
from uuid import UUID, uuid5

from django.db import transaction

from gradebook.events import CellState, MarkChanged, cell_subject
from outbox.log.publish import Actor, NewEvent, publish
from outbox.models.log import ActorType

SHEET = UUID(int=1)
IMPORT = Actor(ActorType.IMPORT)


def change_of(cell: int, version: int) -> NewEvent:
    """Make the event of one change of one cell; the new value tells its version."""
    column, student = uuid5(SHEET, "column"), uuid5(SHEET, f"student {cell}")
    fact = MarkChanged(
        school_id=SHEET,
        sheet_id=SHEET,
        column_id=column,
        student_id=student,
        column_title="Quiz",
        student_name=f"Student {cell}",
        actor_name="",
        old=None,
        new=CellState(value=str(version), code="", source="typed"),
        automatic_value=None,
        reason="imported",
    )
    return NewEvent(
        kind=fact.kind,
        subject=cell_subject(column, student),
        subject_version=version,
        actor=IMPORT,
        payload=fact.payload(),
    )


def change_marks(cells: Iterable[int], *, version: int = 1) -> None:
    """Append one change of each cell, all in one transaction."""
    with transaction.atomic():
        publish(change_of(cell, version) for cell in cells)
