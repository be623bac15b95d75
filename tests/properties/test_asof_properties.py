"""The sheet as of a position = replaying the changes up to it, plainly; the difference of two positions = comparing two such replays."""

from collections.abc import Sequence
from itertools import combinations_with_replacement

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from outbox.log.publish import NewEvent
from outbox.models import Consumer, Event, EventPosition, Tick
from projections.asof.queries import list_cells_as_of, list_differences_between
from projections.models import HistoryEntry, MarkHistory
from tests.examples import examples
from tests.projections.changes import Cell, project, record

pytestmark = pytest.mark.django_db(transaction=True)

# One change: in which of the cells (the last one is of another sheet), and what the cell shows then.
CHANGES = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["0", "5", "7.5", None, "absent"])), min_size=1, max_size=12
)


@examples(15)
@given(changes=CHANGES)
def test_sheet_as_of_any_position_is_the_replay_of_the_changes_up_to_it(
    changes: Sequence[tuple[int, str | None]],
) -> None:
    _forget_everything()
    sheet = Cell()
    cells = [Cell(sheet_id=sheet.sheet_id, column_id=sheet.column_id) for _ in range(4)] + [Cell()]
    events = [_change(cells[number], value) for number, value in changes]
    project(record(*events))
    states = [_replay(cells[:4], changes[:pos]) for pos in range(len(changes) + 1)]
    for pos, state in enumerate(states):
        found = list_cells_as_of(pos, sheet_id=sheet.sheet_id)
        assert {line.student_id: _new(line) for line in found} == state
    for after, upto in combinations_with_replacement(range(len(states)), 2):
        lines = list_differences_between(after, upto, sheet_id=sheet.sheet_id)
        assert {line.student_id: (_old(line), _new(line)) for line in lines} == {
            student: (states[after].get(student), new)
            for student, new in states[upto].items()
            if states[after].get(student) != new
        }


def _change(cell: Cell, value: str | None) -> NewEvent:
    return cell.change(code="absent") if value == "absent" else cell.change(value)


def _replay(cells: Sequence[Cell], changes: Sequence[tuple[int, str | None]]) -> dict[object, str | None]:
    """Return what each cell that was ever changed shows."""
    shown: dict[object, str | None] = {}
    for number, value in changes:
        if number < len(cells):
            shown[cells[number].student_id] = value
    return shown


def _new(line: HistoryEntry) -> str | None:
    return line.new_code or (None if line.new_value is None else f"{line.new_value.normalize():f}")


def _old(line: HistoryEntry) -> str | None:
    return line.old_code or (None if line.old_value is None else f"{line.old_value.normalize():f}")


def _forget_everything() -> None:
    tables = [model._meta.db_table for model in (MarkHistory, Consumer, Event, EventPosition, Tick)]
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(tables)} CASCADE")
