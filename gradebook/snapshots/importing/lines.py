"""One line of the file as a copy that names people and things as the old system did. Pure: whether they exist is asked elsewhere.

    {"id": "4711", "school": "Hill School", "period": "Autumn 2024", "course": "MAT9", "class": "9B",
     "action": "saved", "created_at": "2024-09-02T08:15:00+03:00", "created_by": "ahalonen", "created_by_name": "Anna Halonen",
     "columns": [{"title": "Essay", "max_points": "20", "category": "Written"}], "categories": [{"name": "Written", "weight": "60"}],
     "cells": {"student17": {"Essay": "7.5"}}}

The one thing to know: nothing is guessed. A mark is a number (as text or as a JSON number, at most three decimals, not below zero), a code's
word, or empty for a mark that was cleared; a cell that never held anything is left out.
"""

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NoReturn

from gradebook.entries import DECIMALS, plain
from gradebook.models import MarkCode
from gradebook.moments import FIRST_YEAR, LAST_YEAR, read_moment
from gradebook.snapshots.importing.errors import Refused

LONGEST_ACTION: Final = 20
LONGEST_TITLE: Final = 120
LONGEST_CATEGORY: Final = 60
LONGEST_NAME: Final = 301
LARGEST_NUMBER: Final = Decimal(1_000_000)
CODES: Final = frozenset(MarkCode.values)


@dataclasses.dataclass(frozen=True, slots=True)
class FileColumn:
    """A column as a line has it; the category may be empty."""

    title: str
    max_points: Decimal
    category: str


@dataclasses.dataclass(frozen=True, slots=True)
class FileCategory:
    """A category as a line has it: what it counted in a total then. Kept in the copy; totals are worked out by today's rules."""

    name: str
    weight: Decimal


@dataclasses.dataclass(frozen=True, slots=True)
class FileCopy:
    """A copy as a line has it. `cells` is {student: {column title: cell as stored}}."""

    id: str
    school: str
    period: str
    course: str
    school_class: str
    action: str
    created_at: datetime
    created_by: str
    created_by_name: str
    columns: list[FileColumn]
    categories: list[FileCategory]
    cells: Mapping[str, Mapping[str, Mapping[str, str]]]


def read_line(raw: bytes) -> FileCopy:
    """Return the copy of a line, or raise `Refused`."""
    line = _load(raw)
    columns = [_read_column(column) for column in _get(line, "columns", list)]
    titles = {column.title for column in columns}
    if len(titles) != len(columns):
        raise Refused("Two columns have the same title.", "Titles are unique in a sheet: rename one of them.")
    return FileCopy(
        id=_text(line, "id", 200),
        school=_text(line, "school", 200),
        period=_text(line, "period", 100),
        course=_text(line, "course", 30),
        school_class=_text(line, "class", 60),
        action=_text(line, "action", LONGEST_ACTION),
        created_at=_read_time(_text(line, "created_at", 60)),
        created_by=_optional(line, "created_by"),
        created_by_name=_optional(line, "created_by_name"),
        columns=columns,
        categories=_read_categories(line.get("categories", []), columns),
        cells={
            student: _read_row(student, row, titles) for student, row in _get(line, "cells", dict).items()
        },
    )


def _load(raw: bytes) -> dict[str, Any]:
    try:
        line = json.loads(
            raw.decode("utf-8-sig"),  # bytes would be taken for UTF-16, too, where they look like it
            parse_float=Decimal,
            parse_int=Decimal,
            parse_constant=_refuse_constant,
            object_pairs_hook=_read_object,
        )
    except (ValueError, RecursionError) as error:
        raise Refused(
            f"This is not JSON ({error}).", "Write one JSON object on each line, in UTF-8."
        ) from error
    if not isinstance(line, dict):
        raise Refused("This is not a JSON object.", "Write one JSON object on each line.")
    if rb"\u0000" in raw or rb"\ud" in raw.lower():
        _refuse_unstorable(line)
    return line


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that names something twice: which of the two is meant would be a guess."""
    named = dict(pairs)
    if len(named) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(f"{twice!r} comes twice in one object.", "Name each student and column once.")
    return named


def _refuse_constant(text: str) -> NoReturn:
    raise Refused(f"{text} is no mark.", "Leave the cell out, or write a number.")


def _refuse_unstorable(line: Mapping[str, Any]) -> None:
    """Refuse what no PostgreSQL text holds: NUL, and half a surrogate pair."""
    text = json.dumps(line, ensure_ascii=False, default=str)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Refused(
            "Half a surrogate pair cannot be stored.", "Export the text again, as UTF-8."
        ) from error
    if r"\u0000" in text:
        raise Refused("A NUL character cannot be stored.", "Take it out of the text.")


def _get(line: Mapping[str, Any], name: str, kind: type) -> Any:
    value = line.get(name)
    if not isinstance(value, kind):
        wanted = "a list" if kind is list else "an object"
        raise Refused(
            f"`{name}` is missing or not {wanted}.", f"Give `{name}` as {wanted}, empty if need be."
        )
    return value


def _text(line: Mapping[str, Any], name: str, longest: int) -> str:
    value = line.get(name)
    if isinstance(value, Decimal) and name == "id":
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise Refused(f"`{name}` is missing or not a text.", f"Every copy needs `{name}`.")
    if len(value) > longest:
        raise Refused(f"`{name}` has {len(value)} characters.", f"At most {longest} fit.")
    return value


def _optional(line: Mapping[str, Any], name: str) -> str:
    return _text(line, name, LONGEST_NAME) if line.get(name) else ""


def _read_time(text: str) -> datetime:
    at = read_moment(text)
    if at is None:
        raise Refused(
            f"`created_at` is {text!r}.",
            f"Write date, time and UTC offset, such as 2024-09-02T08:15:00+03:00, of a year from {FIRST_YEAR} to {LAST_YEAR}.",
        )
    return at


def _read_column(column: Any) -> FileColumn:
    if not isinstance(column, dict):
        raise Refused("A column is not an object.", 'Write columns as {"title": …, "max_points": …}.')
    title = _text(column, "title", LONGEST_TITLE)
    most = _read_number(column.get("max_points"))
    if most is None or most == 0:
        raise Refused(
            f"The maximum of column {title!r} is {column.get('max_points')!r}.",
            "Give `max_points` above zero.",
        )
    return FileColumn(title, most, _optional(column, "category"))


def _read_categories(categories: Any, columns: list[FileColumn]) -> list[FileCategory]:
    if not isinstance(categories, list) or not all(isinstance(category, dict) for category in categories):
        raise Refused(
            "`categories` is not a list of objects.",
            'Write them as {"name": …, "weight": …}, or leave it out.',
        )
    found = [_read_category(category) for category in categories]
    unknown = {column.category for column in columns} - {category.name for category in found} - {""}
    if unknown:
        raise Refused(f"There is no {min(unknown)!r} among `categories`.", "List it there, too.")
    return found


def _read_category(category: dict[str, Any]) -> FileCategory:
    name, weight = _text(category, "name", LONGEST_CATEGORY), _read_number(category.get("weight"))
    if weight is None:
        raise Refused(
            f"The weight of {name!r} is {category.get('weight')!r}.", "Give `weight` as a number from 0."
        )
    return FileCategory(name, weight)


def _read_row(student: str, row: Any, titles: set[str]) -> dict[str, dict[str, str]]:
    if not isinstance(row, dict):
        raise Refused(f"The cells of {student} are not an object.", "Write them as {column title: mark}.")
    if unknown := row.keys() - titles:
        raise Refused(
            f"{student} has a mark in {min(unknown)!r}, which is not among `columns`.", "List it there, too."
        )
    return {title: _read_cell(student, title, mark) for title, mark in row.items()}


def _read_cell(student: str, title: str, mark: Any) -> dict[str, str]:
    if mark is None or mark == "":
        return {"source": "teacher"}
    if isinstance(mark, str) and mark.lower() in CODES:
        return {"code": mark.lower(), "source": "teacher"}
    value = _read_number(mark)
    if value is None:
        raise Refused(
            f"The mark of {student} in {title!r} is {str(mark)[:40]!r}.",
            f"Write a number from 0 with at most {DECIMALS} decimals and a point, a code ({', '.join(sorted(CODES))}), "
            "or nothing for a cleared mark.",
        )
    return {"value": plain(value), "source": "teacher"}


def _read_number(number: Any) -> Decimal | None:
    """Return a number that a mark or a maximum can be, None for anything else."""
    if isinstance(number, bool) or not isinstance(number, str | Decimal):
        return None
    try:
        value = Decimal(number)
    except InvalidOperation:
        return None
    if not (value.is_finite() and 0 <= value < LARGEST_NUMBER):
        return None
    return value if value == round(value, DECIMALS) else None
