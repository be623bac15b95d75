"""What stands in a copy's cell, in one canonical form, and what changed between two copies. Pure.

The one thing to know: a cell that is not in a copy, one that was cleared and one that holds something are three things where contents are
compared (`read_cells`); a change of history is what a person could see (`compare_copies`), and the first two look the same.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from gradebook.cells import CellKey

RawCells = Mapping[str, Mapping[str, Mapping[str, str]]]  # student -> column -> cell, as stored


class CopiedCell(NamedTuple):
    """One cell as a copy has it. `value` is a decimal as its shortest text; empty where there is none."""

    value: str = ""
    code: str = ""
    source: str = ""

    @property
    def shown(self) -> tuple[str, str]:
        """What a person sees of it."""
        return (self.value, self.code)

    def __str__(self) -> str:
        return self.value or self.code or "blank"


@dataclasses.dataclass(frozen=True, slots=True)
class Copy:
    """One copy as it was read. `column_titles` and `student_names` are by id, as they were called then."""

    id: UUID
    school_id: UUID
    sheet_id: UUID
    action: str
    created_at: datetime
    created_by_id: UUID | None
    created_by_name: str
    batch_id: UUID | None
    column_titles: Mapping[str, str]
    student_names: Mapping[str, str]
    cells: RawCells

    @property
    def batch(self) -> UUID:
        """What its changes have in common: the batch of events it was written beside, or the copy itself."""
        return self.batch_id or self.id


@dataclasses.dataclass(frozen=True, slots=True)
class CellDifference:
    """What one cell was and is in two neighbouring copies; None where a copy does not have it."""

    key: CellKey
    old: CopiedCell | None
    new: CopiedCell | None


def read_cell(raw: Mapping[str, str]) -> CopiedCell:
    """Return a stored cell."""
    return CopiedCell(raw.get("value", ""), raw.get("code", ""), raw.get("source", ""))


def read_cells(cells: RawCells) -> dict[CellKey, CopiedCell]:
    """Return all cells of a copy by key."""
    return {
        CellKey(UUID(column), UUID(student)): read_cell(raw)
        for student, row in cells.items()
        for column, raw in row.items()
    }


def compare_copies(older: RawCells, newer: RawCells) -> list[CellDifference]:
    """Return what a person would see changed from one copy to the next, in the order of the cells' keys.

    Rows that are equal are passed over whole: most of a copy is what its neighbour was.
    """
    changed = (student for student in older.keys() | newer.keys() if older.get(student) != newer.get(student))
    differences = [
        difference
        for student in changed
        for difference in _compare_rows(student, older.get(student) or {}, newer.get(student) or {})
    ]
    return sorted(differences, key=lambda difference: difference.key)


def _compare_rows(
    student: str, older: Mapping[str, Mapping[str, str]], newer: Mapping[str, Mapping[str, str]]
) -> Iterator[CellDifference]:
    for column in older.keys() | newer.keys():
        if older.get(column) == newer.get(column):
            continue
        old, new = _find_cell(older, column), _find_cell(newer, column)
        if (old or CopiedCell()).shown != (new or CopiedCell()).shown:
            yield CellDifference(CellKey(UUID(column), UUID(student)), old, new)


def _find_cell(row: Mapping[str, Mapping[str, str]], column: str) -> CopiedCell | None:
    raw: Any = row.get(column)
    return None if raw is None else read_cell(raw)
