"""The mark rows in the database: made, locked and written as sets, whatever their number.

The one thing to know: rows are made before any existing row is locked, both in key order. A saver who waits while making
rows holds only rows nobody else can see yet, so two savers can wait for each other in neither phase: no deadlock.
"""

import datetime as dt
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection
from uuid_utils.compat import uuid7

from gradebook.cells import CellKey, StoredCell
from gradebook.models import MarkSource
from gradebook.queries import read_cell
from outbox.db import load_sql, require_transaction


class Place(NamedTuple):
    """Where a cell is: its key, and the sheet and school it belongs to."""

    key: CellKey
    sheet_id: UUID
    school_id: UUID


def insert_blank_cells(places: Sequence[Place], *, source: MarkSource, by_id: UUID | None) -> None:
    """Make a blank row, version 0, for each cell that has none. Whoever calls this writes every one of them."""
    if places:
        cells = [
            {"id": uuid7(), **place.key._asdict(), "sheet_id": place.sheet_id, "school_id": place.school_id}
            for place in places
        ]
        _run("insert_blank_cells", cells, source=source, by=by_id)


def lock_cells(places: Iterable[Place]) -> dict[CellKey, StoredCell]:
    """Lock the rows of these cells until the transaction ends; return those that exist."""
    rows = _run("lock_cells", [{**place.key._asdict(), "sheet_id": place.sheet_id} for place in places])
    cells = map(read_cell, rows)
    return {cell.key: cell for cell in cells}


def write_cells(cells: Iterable[StoredCell]) -> dict[UUID, dt.datetime]:
    """Store cells that this transaction has locked; return the time of each row's last visible change, by row id."""
    return dict(_run("write_cells", [_as_row(cell) for cell in cells]))


def _run(
    statement: str, cells: list[dict[str, Any]], **parameters: str | UUID | None
) -> list[tuple[Any, ...]]:
    require_transaction()
    if not cells:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            load_sql("gradebook", statement),
            {"cells": json.dumps(cells, cls=DjangoJSONEncoder), **parameters},
        )
        return cursor.fetchall() if cursor.description else []


def _as_row(cell: StoredCell) -> dict[str, Any]:
    return {
        "id": cell.id,
        "value": cell.entry.value,
        "code": cell.entry.code,
        "source": cell.source,
        "automatic_value": cell.automatic_value,
        "automatic_at": cell.automatic_at,
        "version": cell.version,
        "shown_version": cell.shown_version,
        "updated_by_id": cell.changed_by_id,
    }
