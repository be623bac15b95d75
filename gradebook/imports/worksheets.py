"""The program that looks into a workbook, in a process of its own.

`python -m gradebook.imports.worksheets DECIMAL_SIGN MOST_ROWS SECONDS [NAME] < FILE`.

The one thing to know: a value is said as its reader sees it or, where that is not known, refused later by whoever wanted a mark there. A
number has the fifteen digits a spreadsheet counts with; one that is shown as a percentage is said with its sign, because 0.85 is not 85;
one that is shown with leading zeros has them. A formula that was never worked out has no value, and is named.

It says one JSON object: `rows`, each with its number; or `worksheets`, the names to choose from, where several say something; or
`problem`, in words for the teacher.
"""

import datetime as dt
import re
import sys
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import IO, Any, Final

from gradebook.imports.tables import MOST_COLUMNS, SAVE_AGAIN
from outbox.confined import is_of_this_machine, limit_resources, say

BROKEN: Final = "This workbook is damaged and cannot be read. Save it again, or save it as “CSV UTF-8”."
MEMORY: Final = 512 * 1024 * 1024
LONGEST_TEXT: Final = 1_000
_DIGITS: Final = ".15g"
_LITERAL: Final = re.compile(r'"[^"]*"|\\.')  # what a number format shows as it stands
_STRICT: Final = b"http://purl.oclc.org/ooxml/"
_WITHIN_THE_HEAD: Final = 4_096
NumberedRow = tuple[int, Sequence[Any]]


class Unusable(Exception):
    """The workbook cannot be taken; the message is for the teacher."""


def read(source: IO[bytes], decimal_sign: str, most_rows: int, wanted: str = "") -> dict[str, Any]:
    """Return what is said of this file; a decoder may raise whatever it likes. Raises what no file can cause."""
    warnings.simplefilter("ignore")  # about what is not read: validations, extensions, print settings
    try:
        return _read(source, decimal_sign, most_rows, wanted)
    except Unusable as error:
        return {"problem": str(error)}
    except Exception as error:
        if is_of_this_machine(error):
            raise
        return {"problem": _name_kind(source) or BROKEN}


def _read(source: IO[bytes], decimal_sign: str, most_rows: int, wanted: str) -> dict[str, Any]:
    from openpyxl import load_workbook  # noqa: PLC0415 - only now, within the limits

    book = load_workbook(source, read_only=True, data_only=True, keep_links=False)
    sheets = {sheet.title: sheet for sheet in book.worksheets if sheet.sheet_state == "visible"}
    if wanted and wanted not in sheets:
        names = ", ".join(f"“{name}”" for name in sheets)
        raise Unusable(f"There is no worksheet “{wanted}” in this workbook. There are: {names}.")
    full = [wanted] if wanted else [name for name, sheet in sheets.items() if _says_something(sheet)]
    if len(full) > 1:
        return {"worksheets": full}
    if not full:
        kind = _name_kind(source)
        return {"problem": kind} if kind else {"rows": []}
    return {"rows": _say_rows(list(_list_rows(sheets[full[0]], most_rows)), decimal_sign)}


def _name_kind(source: IO[bytes]) -> str:
    """Say what else this packed file is, where that is to be seen; nothing where it is a workbook of the usual kind, or damaged."""
    with suppress(Exception), zipfile.ZipFile(source) as file:
        names = set(file.namelist())
        if "xl/workbook.bin" in names:
            return f"This is a binary Excel workbook (.xlsb). {SAVE_AGAIN}"
        if not any(name.endswith("workbook.xml") for name in names):
            return f"This is a packed file, but no Excel workbook. {SAVE_AGAIN}"
        with file.open("xl/workbook.xml") as part:
            if _STRICT in part.read(_WITHIN_THE_HEAD):
                return f"This is an Excel workbook of the kind “Strict Open XML”. {SAVE_AGAIN}"
    return ""


def _says_something(sheet: Any) -> bool:
    return any(_has_value(row) for _, row in _parse_rows(sheet))


def _list_rows(sheet: Any, most: int) -> Iterator[NumberedRow]:
    """Yield the rows that hold something, with their numbers."""
    seen = 0
    for number, row in _parse_rows(sheet):
        if _has_value(row):
            seen += 1
            if seen > most:
                raise Unusable(f"This worksheet has more than {most:,} rows, and so many are not taken.")
            yield number, row


def _has_value(row: Sequence[Any]) -> bool:
    return any(cell.value is not None for cell in row)


def _parse_rows(sheet: Any) -> Iterator[NumberedRow]:
    """Yield the rows as the file has them, each up to its last cell.

    openpyxl's own loop (`ReadOnlyWorksheet.iter_rows`) reads on to validations and filters, and comes to grief over some; and it cannot tell a
    formula that came to an empty text from one that was never worked out, which `_require_value` has to. What a cell says, openpyxl reads.
    """
    from openpyxl.worksheet._reader import DATA_TAG, ROW_TAG, WorkSheetParser  # noqa: PLC0415 - as above
    from openpyxl.xml.functions import iterparse  # noqa: PLC0415 - as above

    book = sheet.parent
    with sheet._get_source() as source:  # noqa: SLF001 - there is no other way to the rows alone
        parser = WorkSheetParser(
            source,
            sheet._shared_strings,  # noqa: SLF001 - as above
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,  # noqa: SLF001 - as above
            timedelta_formats=book._timedelta_formats,  # noqa: SLF001 - as above
        )
        for _, element in iterparse(source):
            if element.tag == ROW_TAG:
                number, cells = parser.parse_row(element)
                for given, cell in zip(element, cells, strict=True):
                    _require_value(given, cell)
                yield number, _lay_out(sheet, cells)
                element.clear()
            elif element.tag == DATA_TAG:
                return


def _require_value(given: Any, cell: dict[str, Any]) -> None:
    """Raise `Unusable` for a formula whose value is not in the file: the program that wrote it has never worked it out.

    One that came to an empty text, as =IF(B2="","",B2*2) does, has the type of a text.
    """
    from openpyxl.utils import get_column_letter  # noqa: PLC0415 - as above
    from openpyxl.worksheet._reader import FORMULA_TAG  # noqa: PLC0415 - as above

    if cell["value"] is None and given.get("t") != "str" and given.find(FORMULA_TAG) is not None:
        raise Unusable(
            f"{get_column_letter(cell['column'])}{cell['row']} is a formula that was never worked out. "
            "Open the workbook in a spreadsheet, save it, and choose it again."
        )


def _lay_out(sheet: Any, cells: Sequence[dict[str, Any]]) -> Sequence[Any]:
    """Return the cells of a row in their places; files leave out what is empty."""
    from openpyxl.cell.read_only import EMPTY_CELL, ReadOnlyCell  # noqa: PLC0415 - as above

    row: list[Any] = [EMPTY_CELL] * max((cell["column"] for cell in cells), default=0)
    for cell in cells:
        row[cell["column"] - 1] = ReadOnlyCell(sheet, **cell)
    return row


def _say_rows(rows: Sequence[NumberedRow], decimal_sign: str) -> list[tuple[int, list[str]]]:
    """Return the rows as texts, all as wide as the widest."""
    said = [(number, [_say_cell(cell, decimal_sign) for cell in row]) for number, row in rows]
    width = max((place for _, texts in said for place, text in enumerate(texts, start=1) if text), default=0)
    if width > MOST_COLUMNS:
        raise Unusable(f"This worksheet has more than {MOST_COLUMNS} columns: no mark sheet has.")
    return [(number, [*texts, *[""] * width][:width]) for number, texts in said]


def _say_cell(cell: Any, decimal_sign: str) -> str:
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, str):
        text = value.strip()
        if len(text) > LONGEST_TEXT:
            raise Unusable(
                f"{cell.coordinate} holds a text of {len(text):,} letters: no name or mark is that long."
            )
        return text
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return say_number(value, cell.number_format, decimal_sign)
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return str(value.date())
    return str(value)


def say_number(value: float, number_format: str, decimal_sign: str) -> str:
    """Return a number as plain digits, with this decimal sign."""
    number = Decimal(format(value, _DIGITS))
    if "%" in _LITERAL.sub("", number_format):
        return _plain(number * 100, decimal_sign) + "%"
    if "%" in number_format:
        return _plain(number, decimal_sign) + "%"
    if set(number_format) == {"0"} and value == int(value):
        return str(int(value)).zfill(len(number_format))
    return _plain(number, decimal_sign)


def _plain(number: Decimal, decimal_sign: str) -> str:
    text = f"{number:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace(".", decimal_sign)


def main(decimal_sign: str, most_rows: str, seconds: str, wanted: str = "") -> None:
    """Look into the workbook on standard input; say on standard output what is in it."""
    limit_resources(memory=MEMORY, seconds=int(seconds))
    say(lambda source: read(source, decimal_sign, int(most_rows), wanted))


if __name__ == "__main__":
    main(*sys.argv[1:])
