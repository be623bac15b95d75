"""A class's copies of one year, drawn as a year goes: columns filled, single marks corrected, some cleared, some imported.

The one thing to know: each copy is the whole class as it was after one change, so they are written as they are drawn, a few at a time.
"""

import copy
import datetime as dt
import json
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final
from uuid import UUID

from django.db import connection

from config.legacy.school import LegacyClass
from outbox.db import load_sql

WRITTEN_AT_ONCE: Final = 25
SCHOOL_DAYS: Final = 280
CODES: Final = ("absent", "excused")
CHANCE_OF_CODE, CHANCE_OF_CLEARING = 0.05, 0.03
CHANCE_OF_COLUMN: Final = 0.12

Cells = dict[str, dict[str, dict[str, str]]]


def write_legacy_copies(group: LegacyClass, *, number: int, dice: random.Random) -> None:
    """Draw and write a class's copies of its year; memory holds a few of them."""
    drawn = _draw(group, number, dice)
    while batch := list(islice(drawn, WRITTEN_AT_ONCE)):
        with connection.cursor() as cursor:
            cursor.execute(load_sql("gradebook", "import_copies"), {"copies": json.dumps(batch)})


def _draw(group: LegacyClass, number: int, dice: random.Random) -> Iterator[dict[str, Any]]:
    layout = json.dumps(_layout(group))
    cells: Cells = {}
    for at in _draw_times(group, number, dice):
        cells = copy.deepcopy(cells)
        action = _change(cells, group, dice)
        teacher = dice.choice(group.teachers)
        yield {
            "id": str(UUID(int=dice.getrandbits(128), version=4)),
            "school_id": str(group.sheet.school_id),
            "sheet_id": str(group.sheet.pk),
            "action": action,
            "created_at": at.isoformat(),
            "created_by_id": str(teacher.pk),
            "created_by_name": teacher.full_name,
            "layout": layout,
            "cells": json.dumps(cells),
        }


def _draw_times(group: LegacyClass, number: int, dice: random.Random) -> list[dt.datetime]:
    """Return so many moments of the year's school days, between eight and five, in order."""
    start = dt.datetime.combine(group.period.starts_on, dt.time(8), tzinfo=dt.UTC)
    return sorted(
        start + dt.timedelta(days=dice.randrange(SCHOOL_DAYS), seconds=dice.randrange(9 * 3600))
        for _ in range(number)
    )


def _change(cells: Cells, group: LegacyClass, dice: random.Random) -> str:
    """Do what a teacher does at one save; return what the old system called it."""
    column = str(dice.choice(group.columns).pk)
    if not cells or dice.random() < CHANCE_OF_COLUMN:
        _fill(cells, column, [str(student.pk) for student in group.students], dice)
        return dice.choice(["saved", "imported"])
    some = dice.sample(group.students, k=dice.choice([1, 1, 1, 2, 5]))
    _fill(cells, column, [str(student.pk) for student in some], dice)
    return "saved"


def _fill(cells: Cells, column: str, students: Sequence[str], dice: random.Random) -> None:
    for student in students:
        cells.setdefault(student, {})[column] = {**_draw_content(dice), "source": "teacher"}


def _draw_content(dice: random.Random) -> dict[str, str]:
    chance = dice.random()
    if chance < CHANCE_OF_CODE:
        return {"code": dice.choice(CODES)}
    if chance < CHANCE_OF_CODE + CHANCE_OF_CLEARING:
        return {}
    halves = round(min(1.0, max(0.0, dice.gauss(0.7, 0.2))) * 40)
    return {"value": f"{halves / 2:g}"}


def _layout(group: LegacyClass) -> dict[str, list[dict[str, str]]]:
    return {
        "columns": [
            {"id": str(column.pk), "title": column.title, "max_points": f"{column.max_points:f}"}
            for column in group.columns
        ],
        "students": [{"id": str(student.pk), "name": student.full_name} for student in group.students],
    }
