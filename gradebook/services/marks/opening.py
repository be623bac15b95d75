"""What a teacher's save has to know before it decides, read and locked in one round trip.

The one thing to know: the order is the lock order, term, columns, cells, and each statement sees what its predecessors waited for.
"""

import dataclasses
import itertools
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from gradebook.cells import CellKey, StoredCell
from gradebook.errors import SheetNotFound
from gradebook.models import MarkSheet, User
from gradebook.models.people import name_person
from gradebook.queries import read_cell
from gradebook.services.marks.rows import LOCK_CELLS, Place, cells_to_lock
from gradebook.services.terms import TERMS, TermStanding
from outbox.db import require_transaction, run_together

_READ = (("gradebook", "open_sheet"), ("gradebook", "lock_columns"))


class ColumnHead(NamedTuple):
    """What a save needs of a column."""

    title: str
    max_points: Decimal


@dataclasses.dataclass(frozen=True, slots=True)
class OpenSheet:
    """A sheet held for a save: its term, whether the teacher may, and those of the columns and students asked for that are on it."""

    term: TermStanding
    may_edit: bool
    columns: Mapping[UUID, ColumnHead]
    students: Mapping[UUID, str]
    cells: Mapping[CellKey, StoredCell]


def open_sheet(sheet: MarkSheet, by: User, keys: Collection[CellKey], *, with_cells: bool) -> OpenSheet:
    """Share the term, look who may, lock the columns (shared) and, `with_cells`, the cells that exist, in key order. One query.

    What it says of the term and the columns stays true until the transaction ends. Raises `SheetNotFound` where there is none.
    """
    require_transaction()
    parameters = {
        "namespace": TERMS,
        "term": sheet.period_id,
        "sheet": sheet.pk,
        "by": by.pk,
        "ids": list({key.column_id for key in keys}),
        "students": list({key.student_id for key in keys}),
    }
    if with_cells:
        parameters |= cells_to_lock(Place(key, sheet.pk, sheet.school_id) for key in keys)
    found, columns, *cells = run_together([*_READ, LOCK_CELLS] if with_cells else _READ, parameters)
    if not found:
        raise SheetNotFound
    is_locked, generation, may_edit, *_ = found[0]
    return OpenSheet(
        TermStanding(is_locked, generation),
        may_edit,
        {column_id: ColumnHead(title, max_points) for column_id, title, max_points in columns},
        {student_id: name_person(*names) for _, _, _, student_id, *names in found if student_id},
        {cell.key: cell for cell in map(read_cell, itertools.chain(*cells))},
    )
