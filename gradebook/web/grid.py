"""A mark sheet as the template draws it: rows of students, one cell a column, texts in the reader's own decimals.

The one thing to know: a cell's markup is drawn in two places, here for the page as it is loaded and in `cell-view.js` for what
changes afterwards. They have the same shape, and a journey compares them.
"""

import dataclasses
import datetime as dt
from collections.abc import Iterable, Mapping

from django.utils.formats import get_format

from gradebook.cells import CellKey, StoredCell
from gradebook.entries import CODE_LETTERS, DecimalSign, plain
from gradebook.models import Column, MarkSource, User
from gradebook.queries import Layout


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its version, its entry as plain text (a number or a code's word), and the same for the eye.

    `automatic` (plain) and `beside` (for the eye) are the automatic result, where a teacher's own mark stands before it.
    """

    version: int = 0
    entry: str = ""
    text: str = ""
    automatic: str = ""
    beside: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One student's cells, in the columns' order; `left_on` when they are no longer in the class."""

    student: User
    name: str
    left_on: dt.date | None
    cells: list[Cell]


@dataclasses.dataclass(frozen=True, slots=True)
class Head:
    """One column's head."""

    column: Column
    max_points: str
    max_text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Grid:
    """Everything the template needs of a sheet's inside."""

    heads: list[Head]
    rows: list[Row]
    layout: str
    decimal_sign: DecimalSign


EMPTY = Cell()
CODES = [{"letter": letter, "code": code.value} for letter, code in CODE_LETTERS.items()]


def read_decimal_sign() -> DecimalSign:
    """Return how the reader's language writes decimals; whatever is neither comma nor point counts as a point."""
    return "," if get_format("DECIMAL_SEPARATOR") == "," else "."


def build_grid(layout: Layout, cells: Iterable[StoredCell], *, today: dt.date) -> Grid:
    """Put the cells of a sheet in their rows and columns."""
    sign = read_decimal_sign()
    shown = {cell.key: _draw(cell, sign) for cell in cells}
    return Grid(
        heads=[_head(column, sign) for column in layout.columns],
        rows=[_row(student, layout.columns, shown, today) for student in layout.students],
        layout=layout.digest,
        decimal_sign=sign,
    )


def _head(column: Column, sign: DecimalSign) -> Head:
    max_points = plain(column.max_points)
    return Head(column, max_points, max_points.replace(".", sign))


def _row(student: User, columns: list[Column], shown: Mapping[CellKey, Cell], today: dt.date) -> Row:
    left_on = getattr(student, "left_on", None)
    return Row(
        student,
        student.full_name,
        left_on if left_on and left_on < today else None,
        [shown.get(CellKey(column.pk, student.pk), EMPTY) for column in columns],
    )


def _draw(cell: StoredCell, sign: DecimalSign) -> Cell:
    text = cell.entry.text
    automatic = (
        ""
        if cell.automatic_value is None or cell.source != MarkSource.TEACHER
        else plain(cell.automatic_value)
    )
    return Cell(
        version=cell.version,
        entry=text,
        text=text if cell.entry.code else text.replace(".", sign),
        automatic=automatic,
        beside=automatic.replace(".", sign),
    )
