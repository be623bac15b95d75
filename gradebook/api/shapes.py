"""What the grid is told, as JSON: decimals as plain text, ids as text, times in ISO 8601."""

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from gradebook.entries import Entry, plain
from gradebook.queries import CellView, Changes
from gradebook.services.marks import Refusal, SaveOutcome


def cell(view: CellView) -> dict[str, Any]:
    """Return a cell: where it is, what it shows, and what the next save has to be based on."""
    return {
        "column": str(view.key.column_id),
        "student": str(view.key.student_id),
        "version": view.version,
        **_entry(view.entry),
        "source": view.source,
        "automatic": _number(view.automatic_value),
        "changed_by": view.changed_by,
        "changed_at": view.changed_at,
    }


def changes(found: Changes, layout: str) -> dict[str, Any]:
    """Return the answer to a refresh."""
    return {"cells": [cell(view) for view in found.cells], "snapshot": found.snapshot, "layout": layout}


def outcome(saved: SaveOutcome, unreadable: Iterable[Refusal], *, saved_at: dt.datetime) -> dict[str, Any]:
    """Return the answer to a save."""
    return {
        "saved": [cell(view) for view in saved.saved],
        "conflicts": [{"mine": _entry(c.mine), "theirs": cell(c.theirs)} for c in saved.conflicts],
        "refused": [_refusal(refusal) for refusal in (*saved.refused, *unreadable)],
        "saved_at": saved_at,
    }


def _refusal(refusal: Refusal) -> dict[str, Any]:
    return {
        "column": str(refusal.key.column_id),
        "student": str(refusal.key.student_id),
        "code": refusal.code,
        "detail": refusal.detail,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {"value": _number(entry.value), "code": entry.code}


def _number(value: Decimal | None) -> str | None:
    return None if value is None else plain(value)
