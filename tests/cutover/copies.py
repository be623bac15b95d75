"""Copies as the old system wrote them, for tests: one line a copy, a minute apart."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from gradebook.models import Column, Cutover, MarkSheet, MarkSnapshot, User
from gradebook.snapshots.phases import Phase
from projections.backfill.walking import backfill_sheet, list_unfilled_sheets
from projections.models import BackfilledMark, HistoryEntry

LONG_AGO = dt.datetime(2024, 9, 2, 8, tzinfo=dt.UTC)
Cells = Mapping[str, Mapping[str, Mapping[str, str]]]


def a_cell(text: str) -> dict[str, str]:
    """Return a teacher's cell: a number, a code's word, or nothing for a cleared one."""
    content = {"value": text} if text[:1].isdigit() else {"code": text} if text else {}
    return {**content, "source": "teacher"}


def cells_of(column: Column | UUID, texts: Mapping[User, str]) -> dict[str, Any]:
    """Return the cells of one column by student."""
    column_id = column.pk if isinstance(column, Column) else column
    return {str(student.pk): {str(column_id): a_cell(text)} for student, text in texts.items()}


def write_copy(
    sheet: MarkSheet, cells: Cells, *, minute: int, by: User | None = None, **fields: Any
) -> MarkSnapshot:
    """Write one copy from before the log, with the names its columns and students have now."""
    students = dict.fromkeys(cells, "Somebody")
    students |= {str(user.pk): user.full_name for user in User.objects.filter(pk__in=list(cells))}
    titles = {column: "A column" for row in cells.values() for column in row}
    titles |= {str(column.pk): column.title for column in sheet.columns.all()}
    defaults = {
        "school_id": sheet.school_id,
        "sheet": sheet,
        "action": "saved",
        "created_at": LONG_AGO + dt.timedelta(minutes=minute),
        "created_by_id": by.pk if by else None,
        "created_by_name": by.full_name if by else "Old Teacher",
        "layout": {
            "columns": [
                {"id": column, "title": title, "max_points": "10"} for column, title in titles.items()
            ],
            "students": [{"id": student, "name": name} for student, name in students.items()],
        },
        "cells": cells,
    }
    return MarkSnapshot.objects.create(**defaults | fields)


def write_steps(sheet: MarkSheet, steps: Sequence[Cells]) -> list[MarkSnapshot]:
    """Write copies one after the other."""
    return [write_copy(sheet, cells, minute=number) for number, cells in enumerate(steps)]


def enter(phase: Phase) -> None:
    """Put the cut-over into a phase, past its gates."""
    Cutover.objects.update_or_create(id=1, defaults={"phase": phase})


def backfill(*, size: int = 100) -> None:
    """Compare all copies there are."""
    for sheet_id in list_unfilled_sheets():
        for _ in backfill_sheet(sheet_id, size=size):
            pass


def backfilled() -> list[dict[str, Any]]:
    """Return the whole table, newest line first."""
    return [dict(row) for row in BackfilledMark.objects.order_by("sheet_id", "-pos").values()]


def steps(lines: Sequence[HistoryEntry]) -> list[tuple[str, str, str]]:
    """Return lines as (why, old, new), in their order."""
    return [
        (line.reason, _text(line.old_value, line.old_code), _text(line.new_value, line.new_code))
        for line in lines
    ]


def _text(value: Any, code: str) -> str:
    return code or ("" if value is None else f"{value.normalize():f}")


def some_id() -> UUID:
    """Return an id nobody has."""
    return uuid4()
