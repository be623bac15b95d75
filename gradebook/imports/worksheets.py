"""The program that looks into a workbook, in a process of its own: `python -m gradebook.imports.worksheets DECIMAL_SIGN [NAME] < FILE`.

The one thing to know: a value is said as its reader sees it or, where that is not known, refused later by whoever wanted a mark there. A
number has the fifteen digits a spreadsheet counts with; one that is shown as a percentage is said with its sign, because 0.85 is not 85;
one that is shown with leading zeros has them. A formula that was never worked out has no value, and is named.

It says one JSON object: `rows`, each with its number; or `worksheets`, the names to choose from, where several say something; or
`problem`, in words for the teacher, with `diagnosis` for staff where a decoder came to grief.
"""

import datetime as dt
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import IO, Any, Final

from outbox.confined import is_of_this_machine, limit_resources, say

BROKEN: Final = "This workbook is damaged and cannot be read. Save it again, or save it as “CSV UTF-8”."
MEMORY: Final = 512 * 1024 * 1024
SECONDS: Final = 5
MOST_ROWS: Final = 2_000
MOST_COLUMNS: Final = 500
LONGEST_TEXT: Final = 1_000
_LAST_ROW: Final = 1_048_576  # of a worksheet, by the format
_DIGITS: Final = ".15g"
NumberedRow = tuple[int, Sequence[Any]]


class Unusable(Exception):
    """The workbook cannot be taken; the message is for the teacher."""


def read(source: IO[bytes], decimal_sign: str, wanted: str) -> dict[str, Any]:
    """Return what is said of this file; a decoder may raise whatever it likes. Raises what no file can cause."""
    warnings.simplefilter("ignore")  # about what is not read: validations, extensions, print settings
    try:
        return _read(source, decimal_sign, wanted)
    except Unusable as error:
        return {"problem": str(error)}
    except Exception as error:
        if is_of_this_machine(error):
            raise
        return {"problem": BROKEN, "diagnosis": f"{type(error).__name__}: {error}"}


def _read(source: IO[bytes], decimal_sign: str, wanted: str) -> dict[str, Any]:
    from openpyxl import load_workbook  # noqa: PLC0415 - only now, within the limits

    book = load_workbook(source, read_only=True, data_only=True)
    sheets = {sheet.title: sheet for sheet in book.worksheets if sheet.sheet_state == "visible"}
    if wanted and wanted not in sheets:
        names = ", ".join(f"“{name}”" for name in sheets)
        raise Unusable(f"There is no worksheet “{wanted}” in this workbook. There are: {names}.")
    full = [wanted] if wanted else [name for name, sheet in sheets.items() if any(_list_rows(sheet))]
    if len(full) > 1:
        return {"worksheets": full}
    if not full:
        return {"rows": []}
    rows = list(_list_rows(sheets[full[0]]))
    source.seek(0)
    formulas = load_workbook(source, read_only=True, data_only=False)
    _require_values(rows, _list_rows(formulas[full[0]]))
    return {"rows": _say_rows(rows, decimal_sign)}


def _list_rows(sheet: Any) -> Iterator[NumberedRow]:
    """Yield the rows that hold something, with their numbers."""
    sheet.reset_dimensions()  # what the file says of its own size may be wrong
    seen = 0
    for number, row in enumerate(sheet.iter_rows(max_row=_LAST_ROW), start=1):
        if row and any(cell.value is not None for cell in row):
            seen += 1
            if seen > MOST_ROWS:
                raise Unusable(f"This worksheet has more than {MOST_ROWS:,} rows: no class has.")
            yield number, row


def _require_values(rows: Sequence[NumberedRow], formulas: Iterable[NumberedRow]) -> None:
    """Raise `Unusable` for a formula whose value is not in the file: the program that wrote it has never worked it out."""
    values = dict(rows)
    for number, row in formulas:
        known = values.get(number)
        for place, cell in enumerate(row):
            if cell.data_type == "f" and (known is None or known[place].value is None):
                raise Unusable(
                    f"{cell.coordinate} is a formula that was never worked out. "
                    "Open the workbook in a spreadsheet, save it, and choose it again."
                )


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
    if "%" in number_format:
        return _plain(number * 100, decimal_sign) + "%"
    if set(number_format) == {"0"} and value == int(value):
        return str(int(value)).zfill(len(number_format))
    return _plain(number, decimal_sign)


def _plain(number: Decimal, decimal_sign: str) -> str:
    text = f"{number:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace(".", decimal_sign)


def main(decimal_sign: str, wanted: str = "") -> None:
    """Look into the workbook on standard input; say on standard output what is in it."""
    limit_resources(memory=MEMORY, seconds=SECONDS)
    say(lambda source: read(source, decimal_sign, wanted))


if __name__ == "__main__":
    main(*sys.argv[1:])
