"""Whatever file a teacher has: which kind it is, by its content, and the table in it."""

from typing import Final

from gradebook.entries import DecimalSign
from gradebook.imports.tables import MARKS, SAVE_AGAIN, BadFile, Bounds, Fault, Table
from gradebook.imports.texts import read_text
from gradebook.imports.workbooks import read_workbook

_ZIP: Final = b"PK\x03\x04"
_OLD_EXCEL: Final = b"\xd0\xcf\x11\xe0"  # a locked workbook of today is wrapped in such a file, too
_LIBREOFFICE: Final = b"mimetypeapplication/vnd.oasis.opendocument"
_NAMES_END: Final = 100


def read_table(
    data: bytes, *, decimal_sign: DecimalSign, worksheet: str = "", bounds: Bounds = MARKS
) -> Table:
    """Return the table in a file. Raises `BadFile`, and of a workbook what `read_workbook` raises."""
    if len(data) > bounds.file:
        raise BadFile(
            Fault(0, f"This file is larger than {bounds.file // 1024} KiB, and so large a one is not taken.")
        )
    if data.startswith(_OLD_EXCEL):
        what = "an old Excel workbook (.xls), or one that is locked with a password"
        raise BadFile(Fault(0, f"This is {what}. {SAVE_AGAIN}"))
    if not data.startswith(_ZIP):
        return read_text(data, most_rows=bounds.rows)
    if _LIBREOFFICE in data[:_NAMES_END]:
        raise BadFile(Fault(0, f"This is a LibreOffice workbook (.ods). {SAVE_AGAIN}"))
    return read_workbook(data, decimal_sign=decimal_sign, worksheet=worksheet, bounds=bounds)
