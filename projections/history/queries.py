"""Reads of the mark history: newest first, one indexed range read a page, however much history there is.

A page is asked for by the position it starts before (keyset paging), so that page 400 costs what page 1 costs
and lines that arrive while somebody pages never shift the ones below. Lines from before the log have negative positions, so the border
between the two eras is a place like any other.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS

from gradebook.cells import CellKey
from gradebook.snapshots.phases import FIND_CUTOVER, reads_copies_for_history
from outbox.db import run_together
from projections.backfill.old_history import list_old_history
from projections.models import HistoryEntry, WholeHistory

PAGE_SIZE = 50
_OF_SHEET: Final = ("projections", "list_sheet_history")
_OF_CELL: Final = ("projections", "list_cell_history")
_FIELDS: Final = tuple(field.attname for field in WholeHistory._meta.concrete_fields)  # noqa: SLF001 - Django's documented API


@dataclasses.dataclass(frozen=True, slots=True)
class HistoryPage:
    """At most `PAGE_SIZE` lines, newest first; `older_before` is where the next page starts (None: this was the last)."""

    lines: Sequence[HistoryEntry]
    older_before: int | None


def list_sheet_history(*, sheet_id: UUID, before: int | None = None, size: int = PAGE_SIZE) -> HistoryPage:
    """Return the changes in one mark sheet. One query."""
    (rows,) = run_together([_OF_SHEET], _place(sheet_id, None, before, size))
    return _page(rows, size)


def list_cell_history(
    *, sheet_id: UUID, column_id: UUID, student_id: UUID, before: int | None = None, size: int = PAGE_SIZE
) -> HistoryPage:
    """Return the changes of one cell. One query.

    The sheet is named too, so that a cell of another sheet is never shown under this one's permission.
    """
    (rows,) = run_together([_OF_CELL], _place(sheet_id, CellKey(column_id, student_id), before, size))
    return _page(rows, size)


def list_shown_history(
    *, sheet_id: UUID, key: CellKey | None, before: int | None = None, size: int = PAGE_SIZE
) -> HistoryPage:
    """Return what the history page shows of a sheet or of one cell: by the cut-over's phase, from its copies or from the history.

    One query, unless it is the copies.
    """
    statements = [FIND_CUTOVER, _OF_CELL if key else _OF_SHEET]
    (cutover,), rows = run_together(statements, _place(sheet_id, key, before, size))
    if reads_copies_for_history(cutover):
        return _cut(list_old_history(sheet_id=sheet_id, key=key, before=before, size=size + 1), size)
    return _page(rows, size)


def _place(sheet_id: UUID, key: CellKey | None, before: int | None, size: int) -> dict[str, Any]:
    cell = {"column": key.column_id, "student": key.student_id} if key else {}
    return {"sheet": sheet_id, **cell, "before": before, "size": size + 1}


def _page(rows: Sequence[tuple[Any, ...]], size: int) -> HistoryPage:
    return _cut([WholeHistory.from_db(DEFAULT_DB_ALIAS, _FIELDS, row) for row in rows], size)


def _cut(found: Sequence[HistoryEntry], size: int) -> HistoryPage:
    """Make a page of at most `size` of the lines found, of which one more was looked for."""
    page = found[:size]
    return HistoryPage(lines=page, older_before=page[-1].pos if len(found) > size else None)
