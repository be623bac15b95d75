"""The mark rows in the database: made, locked and written as sets, whatever their number.

The one thing to know: rows are made before any existing row is locked, both in key order. A saver who waits while making
rows holds only rows nobody else can see yet, so two savers can wait for each other in neither phase: no deadlock.
"""

import datetime as dt
import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from uuid_utils.compat import uuid7

from gradebook.cells import CellKey, StoredCell
from gradebook.models import MarkSource
from gradebook.queries import read_cell
from outbox.db import require_transaction, run_together

INSERT_BLANK_CELLS: Final = ("gradebook", "insert_blank_cells")
LOCK_CELLS: Final = ("gradebook", "lock_cells")
WRITE_CELLS: Final = ("gradebook", "write_cells")


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
        require_transaction()
        run_together([INSERT_BLANK_CELLS], {**_pack(cells), "source": source, "by": by_id})


def lock_cells(places: Iterable[Place]) -> dict[CellKey, StoredCell]:
    """Lock the rows of these cells until the transaction ends; return those that exist."""
    places = list(places)
    require_transaction()
    (rows,) = run_together([LOCK_CELLS], cells_to_lock(places)) if places else ([],)
    return {cell.key: cell for cell in map(read_cell, rows)}


def cells_to_lock(places: Iterable[Place]) -> dict[str, str]:
    """Return the parameters of `LOCK_CELLS`, for who sends it together with others."""
    return _pack({**place.key._asdict(), "sheet_id": place.sheet_id} for place in places)


def write_cells(cells: Iterable[StoredCell]) -> dict[UUID, dt.datetime]:
    """Store cells that this transaction has locked; return the time of each row's last visible change, by row id."""
    cells = list(cells)
    require_transaction()
    (rows,) = run_together([WRITE_CELLS], cells_to_write(cells)) if cells else ([],)
    return dict(rows)


def cells_to_write(cells: Iterable[StoredCell]) -> dict[str, str]:
    """Return the parameters of `WRITE_CELLS`, for who sends it together with the events."""
    return _pack(map(_as_row, cells))


def _pack(cells: Iterable[dict[str, Any]]) -> dict[str, str]:
    return {"cells": json.dumps(list(cells), cls=DjangoJSONEncoder)}


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
