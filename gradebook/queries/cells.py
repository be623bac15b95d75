"""Cells as pages see them, and what changed in them since a page last looked.

The one thing to know: a page remembers the database snapshot it was read at, not a time. `list_changes` then finds by PostgreSQL's
own visibility rule what that page has not seen, also a change that began before the page was read and committed after it.
"""

import dataclasses
import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import DataError, connection, transaction

from gradebook.cells import CellKey, StoredCell
from gradebook.entries import BLANK, Entry
from gradebook.errors import Malformed
from gradebook.models import Mark, MarkSheet, User
from outbox.db import load_sql

# As lock_cells.sql and list_changed_cells.sql return them, for `read_cell`.
_FIELDS = (
    *("id", "sheet_id", "column_id", "student_id", "value", "code", "source"),
    *("automatic_value", "automatic_at", "version", "shown_version", "updated_at", "updated_by_id"),
)


@dataclasses.dataclass(frozen=True, slots=True)
class CellView:
    """A cell as a teacher sees it. `version` is what a save has to be based on; 0: there has never been a mark.

    `changed_by` is a name, or empty where no person made the last visible change.
    """

    key: CellKey
    version: int
    entry: Entry = BLANK
    source: str = ""
    automatic_value: Decimal | None = None
    changed_by: str = ""
    changed_at: dt.datetime | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Changes:
    """The cells a page has not seen, and the snapshot to ask with next time."""

    cells: list[CellView]
    snapshot: str


def read_cell(row: tuple[Any, ...]) -> StoredCell:
    """Return the mark of a row of `lock_cells.sql` or `list_changed_cells.sql`."""
    row_id, sheet_id, column_id, student_id, value, code, *rest = row
    return StoredCell(row_id, sheet_id, CellKey(column_id, student_id), Entry(value, code), *rest)


def view_cell(key: CellKey, cell: StoredCell | None, names: Mapping[UUID, str]) -> CellView:
    """Return how a cell looks, given the names of those who changed it; without a row it is blank."""
    if cell is None:
        return CellView(key, version=0)
    changed_by = "" if cell.changed_by_id is None else names[cell.changed_by_id]
    return CellView(
        key, cell.version, cell.entry, cell.source, cell.automatic_value, changed_by, cell.changed_at
    )


def list_names(ids: Iterable[UUID | None]) -> dict[UUID, str]:
    """Return people's names by id. One query, none for nobody."""
    people = User.objects.only("username", "first_name", "last_name")
    return {person_id: person.full_name for person_id, person in people.in_bulk({*ids} - {None}).items()}


def take_snapshot() -> str:
    """Return what is visible now, as `list_changes` wants it. Take it before reading, never after. One query."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_snapshot()::text")
        (snapshot,) = cursor.fetchone()
    return str(snapshot)


def list_cells(sheet: MarkSheet) -> list[StoredCell]:
    """Return every mark of a sheet. One query."""
    return [read_cell(row) for row in Mark.objects.filter(sheet=sheet).values_list(*_FIELDS)]


def find_cells(sheet_id: UUID | None, keys: Collection[CellKey]) -> dict[CellKey, StoredCell]:
    """Return the marks of these cells, of one sheet or wherever they are; a cell without a row is not in it. One query."""
    marks = Mark.objects.filter(
        column__in={key.column_id for key in keys}, student__in={key.student_id for key in keys}
    )
    if sheet_id is not None:
        marks = marks.filter(sheet=sheet_id)
    found = map(read_cell, marks.values_list(*_FIELDS))
    return {cell.key: cell for cell in found if cell.key in keys}


def list_changes(sheet: MarkSheet, *, since: str) -> Changes:
    """Return the cells not visible in the snapshot `since`. Three queries. Raises `Malformed` for what is no snapshot."""
    snapshot = take_snapshot()
    cells = _list_changed_cells(sheet, since)
    names = list_names(cell.changed_by_id for cell in cells)
    return Changes([view_cell(cell.key, cell, names) for cell in cells], snapshot)


def _list_changed_cells(sheet: MarkSheet, since: str) -> list[StoredCell]:
    statement = load_sql("gradebook", "list_changed_cells")
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, {"sheet": sheet.pk, "since": since})
            return [read_cell(row) for row in cursor.fetchall()]
    except (DataError, ValueError) as error:  # psycopg itself refuses NUL and lone surrogates
        raise Malformed("`since` is not a snapshot this server gave.", pointer="/since") from error
