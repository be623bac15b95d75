"""A mark sheet as a file: spreadsheets open it, and the import reads it back to the same marks. Pure.

The one thing to know: what somebody wrote (a name, a title) is never a formula where it is opened: in CSV it is guarded, in a workbook it is
a text and stays one when somebody edits the cell. Numbers are numbers in both.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

from gradebook.entries import DecimalSign, plain
from gradebook.imports.formulas import FORMULAS, guard

Value = str | Decimal
_WIDTH: Final = 14
_WIDER: Final = 28
_NAMES: Final = 2  # columns that say who


def write_text(rows: Iterable[Sequence[Value]], *, decimal_sign: DecimalSign) -> bytes:
    """Return the rows as CSV in UTF-8 with the mark that Excel knows it by, parted as spreadsheets of this decimal sign expect."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=";" if decimal_sign == "," else ",", lineterminator="\r\n")
    writer.writerows([_write_value(value, decimal_sign) for value in row] for row in rows)
    return text.getvalue().encode("utf-8-sig")


def write_workbook(rows: Sequence[Sequence[Value]]) -> bytes:
    """Return the rows as an Excel workbook; the first row and the names stay in view."""
    from openpyxl import Workbook  # noqa: PLC0415 - a quarter of a second that no other request should wait for
    from openpyxl.utils import get_column_letter  # noqa: PLC0415 - as above

    book = Workbook(write_only=True)
    sheet = book.create_sheet("Marks")
    sheet.freeze_panes = f"{get_column_letter(_NAMES + 1)}2"
    for column in range(1, len(rows[0]) + 1):
        sheet.column_dimensions[get_column_letter(column)].width = _WIDER if column <= _NAMES else _WIDTH
    for place, row in enumerate(rows):
        sheet.append([_make_cell(sheet, value, is_head=place == 0) for value in row])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _write_value(value: Value, decimal_sign: DecimalSign) -> str:
    return plain(value).replace(".", decimal_sign) if isinstance(value, Decimal) else guard(value)


def _make_cell(sheet: Any, value: Value, *, is_head: bool) -> Any:
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, WriteOnlyCell  # noqa: PLC0415 - as above
    from openpyxl.styles import Font  # noqa: PLC0415 - as above

    if isinstance(value, Decimal):
        return WriteOnlyCell(sheet, value=value)  # type: ignore[arg-type] # it is written as it stands
    if not value:
        return None
    cell = WriteOnlyCell(sheet, value=ILLEGAL_CHARACTERS_RE.sub("", value))
    cell.data_type = "s"  # also where it begins like a formula
    cell.quotePrefix = value.startswith(FORMULAS)
    if is_head:
        cell.font = Font(bold=True)
    return cell
