"""Copies are read one by one through a server-side cursor: whatever their number, two of them are in memory.

The one thing to know: the order of a sheet's copies is (created_at, id), in which they are also written (`write_copies.sql`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.db import connection
from psycopg import Cursor

from gradebook.cells import CellKey
from gradebook.snapshots.cells import CopiedCell, Copy, read_cells
from outbox.db import fetch_row, find_row, load_sql, require_transaction

_FETCHED_AT_ONCE = 8  # a copy of a large class is some hundred kilobytes


class Place(NamedTuple):
    """Where a copy stands among those of its sheet."""

    created_at: datetime
    id: UUID


def walk_copies_back(sheet_id: UUID, *, upto: Place | None, most: int) -> Iterator[Copy]:
    """Yield a sheet's copies from before the log, newest first, from one on (that one included), at most so many.

    Needs a transaction. Index: snapshots_walk_idx, backwards.
    """
    place = {"upto_at": upto and upto.created_at, "upto_id": upto and upto.id}
    return _stream("walk_copies_back", {"sheet": sheet_id, "most": most, **place})


def walk_copies(sheet_id: UUID) -> Iterator[Copy]:
    """Yield all copies of a sheet, oldest first. Needs a transaction. Index: snapshots_walk_idx."""
    return _stream("walk_copies", {"sheet": sheet_id})


def list_copied_sheets(*, before_log: bool = False) -> list[UUID]:
    """Return the sheets that have copies, or copies from before the log, in the order of their ids."""
    with connection.cursor() as cursor:
        cursor.execute(load_sql("gradebook", "list_copied_sheets"), {"before_log": before_log})
        return [sheet for (sheet,) in cursor.fetchall()]


def count_copies_before_log(sheet_id: UUID) -> int:
    """Return how many copies of a sheet are from before the log."""
    with connection.cursor() as cursor:
        (count,) = fetch_row(cursor, "gradebook", "count_copies_before_log", {"sheet": sheet_id})
    return int(count)


def find_newest_copy(sheet_id: UUID) -> Copy | None:
    """Return a sheet's newest copy."""
    with connection.cursor() as cursor:
        row = find_row(cursor, "gradebook", "find_newest_copy", {"sheet": sheet_id})
    return _as_copy(row) if row else None


def get_newest_cells(sheet_id: UUID) -> dict[CellKey, CopiedCell]:
    """Return what a sheet's newest copy says; nothing where there is no copy."""
    newest = find_newest_copy(sheet_id)
    return read_cells(newest.cells) if newest else {}


def _stream(statement: str, parameters: dict[str, Any]) -> Iterator[Copy]:
    require_transaction()
    with _server_cursor() as cursor:
        cursor.itersize = _FETCHED_AT_ONCE
        cursor.execute(load_sql("gradebook", statement), parameters)
        for row in cursor:
            yield _as_copy(row)


@contextmanager
def _server_cursor() -> Iterator[Any]:
    """A named cursor of psycopg's; Django's own would read everything at once unless it comes from a queryset."""
    with connection.chunked_cursor() as wrapped:
        cursor: Cursor[Any] = wrapped.cursor
        yield cursor


def _as_copy(row: tuple[Any, ...]) -> Copy:
    *plain, layout, cells = row
    return Copy(*(*plain, *_read_layout(layout), orjson.loads(cells)))


@lru_cache(maxsize=16)
def _read_layout(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the titles of a copy's columns and the names of its students; most copies have the layout of their neighbour."""
    layout = orjson.loads(text)  # Django leaves jsonb as text on its cursors
    titles = {column["id"]: column["title"] for column in layout["columns"]}
    return titles, {student["id"]: student["name"] for student in layout["students"]}
