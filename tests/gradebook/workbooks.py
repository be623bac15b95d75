"""Workbooks as spreadsheets save them, and as nobody should."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

from openpyxl import Workbook

Rows = Sequence[Sequence[Any]]


def make(worksheets: Mapping[str, Rows], hidden: Sequence[str] = ()) -> bytes:
    """Return a workbook of these worksheets; a value with a number format is a pair."""
    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in worksheets.items():
        sheet = book.create_sheet(name)
        sheet.sheet_state = "hidden" if name in hidden else "visible"
        for row, values in enumerate(rows, start=1):
            for column, given in enumerate(values, start=1):
                value, number_format = given if isinstance(given, tuple) else (given, None)
                cell = sheet.cell(row, column, value)
                if number_format:
                    cell.number_format = number_format
    return _save(book)


def make_far(row: int, column: int) -> bytes:
    """Return a workbook with a value far down or far to the right of the others."""
    book = Workbook()
    sheet = book.worksheets[0]
    for place, value in ((1, "username"), (2, "Essay")):
        sheet.cell(1, place, value)
    sheet.cell(row, column, "7")
    return _save(book)


def rewrite(data: bytes, part: str, old: str, new: str) -> bytes:
    """Return the workbook with a text in one of its parts replaced."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as given, zipfile.ZipFile(file, "w") as written:
        for name in given.namelist():
            content = given.read(name)
            if name == part:
                assert old.encode() in content
                content = content.replace(old.encode(), new.encode())
            written.writestr(name, content)
    return file.getvalue()


def _save(book: Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()
