"""Two neighbouring copies as lines of history. Pure: the same copies always give the same lines, ids included.

The one thing to know: a line's id follows from school, sheet, copy, student and column, and its place from how many lines are newer;
neither depends on when, or in how many runs, the copies were compared.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Final
from uuid import UUID, uuid5

from gradebook.snapshots.cells import CellDifference, CopiedCell, Copy, compare_copies
from outbox.models.log import ActorType
from projections.history.lines import FROM_COPY, REASONS
from projections.models import BackfilledMark

NAMESPACE: Final = UUID("5f0c52a4-6a0e-5b7e-9c1d-0d6a3c1f8e21")  # of these lines' ids, for ever
SAVED: Final = "saved"
UNNAMED: Final = ""


def compare_neighbours(older: Copy | None, newer: Copy, *, newest_pos: int) -> list[BackfilledMark]:
    """Return what changed from one copy to the next as lines, newest place first: the last of them stands at `newest_pos`.

    `older` is None where `newer` is the oldest copy of its sheet: then everything in it is new.
    """
    differences = reversed(compare_copies(older.cells if older else {}, newer.cells))
    return [
        _as_line(difference, older, newer, pos=newest_pos - number)
        for number, difference in enumerate(differences)
    ]


def draw_lines(newest_first: Iterable[Copy], *, newest_pos: int = -1) -> Iterator[BackfilledMark]:
    """Yield the lines of a sheet's copies, newest first; two copies are held at a time."""
    newer = None
    for copy in newest_first:
        if newer is not None:
            lines = compare_neighbours(copy, newer, newest_pos=newest_pos)
            newest_pos -= len(lines)
            yield from lines
        newer = copy
    if newer is not None:
        yield from compare_neighbours(None, newer, newest_pos=newest_pos)


def name_reason(action: str, new: CopiedCell | None) -> str:
    """Return why a cell changed: saving writes one copy for typed and cleared cells together; an unknown action is only a copy."""
    if action == SAVED:
        return "typed" if new and new != CopiedCell(source=new.source) else "cleared"
    return action if action in REASONS else FROM_COPY


def _as_line(difference: CellDifference, older: Copy | None, newer: Copy, *, pos: int) -> BackfilledMark:
    key, old, new = difference.key, difference.old or CopiedCell(), difference.new or CopiedCell()
    column, student = str(key.column_id), str(key.student_id)
    return BackfilledMark(
        event_id=uuid5(NAMESPACE, f"{newer.school_id}|{newer.sheet_id}|{newer.id}|{student}|{column}"),
        pos=pos,
        school_id=newer.school_id,
        sheet_id=newer.sheet_id,
        column_id=key.column_id,
        student_id=key.student_id,
        cell_version=0,
        column_title=newer.column_titles.get(column)
        or (older and older.column_titles.get(column))
        or UNNAMED,
        student_name=newer.student_names.get(student)
        or (older and older.student_names.get(student))
        or UNNAMED,
        old_value=_number(old),
        old_code=old.code,
        old_source=old.source,
        new_value=_number(new),
        new_code=new.code,
        new_source=new.source,
        automatic_value=None,
        reason=name_reason(newer.action, difference.new),
        actor_type=ActorType.PERSON if newer.created_by_id else ActorType.IMPORT,
        actor_id=newer.created_by_id,
        actor_name=newer.created_by_name,
        batch_id=newer.batch,
        occurred_at=newer.created_at,
    )


def _number(cell: CopiedCell) -> Decimal | None:
    return Decimal(cell.value) if cell.value else None
