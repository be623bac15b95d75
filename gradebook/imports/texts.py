"""A CSV file as a table. Pure; what the values mean is asked elsewhere (`plans`).

The one thing to know: nothing is guessed. The file is UTF-8 (with or without a byte order mark); another encoding is named, because it
would turn names into other names. The separator is the one of comma, semicolon and tab that parts the header into the most
columns, or what Excel's first line `sep=;` says. A row with more or fewer values than the header is a fault: an unquoted decimal comma
looks like that, and would move every mark behind it.
"""

import csv
import io
from collections.abc import Iterator
from typing import Final

from gradebook.imports.formulas import unguard
from gradebook.imports.tables import MARKS, MOST_COLUMNS, BadFile, Fault, Row, Table, part_header

SEPARATORS: Final = (",", ";", "\t")
_OTHER_ENCODINGS: Final = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_ADVICE: Final = "Save it as “CSV UTF-8” and choose it again."


def read_text(data: bytes, *, most_rows: int = MARKS.rows) -> Table:
    """Return the table in a CSV file, or raise `BadFile`."""
    first_line, separator, text = _find_separator(_decode(data))
    header, rows = part_header(_bound(_split(text, separator, first_line), most_rows))
    width = len(header.values)
    if width > MOST_COLUMNS:
        raise BadFile(
            Fault(header.line, f"This file has more than {MOST_COLUMNS} columns: no mark sheet has.")
        )
    return Table(
        header,
        [row for row in rows if len(row.values) == width],
        [_name_misfit(row, width, separator) for row in rows if len(row.values) != width],
    )


def _bound(rows: Iterator[Row], most: int) -> Iterator[Row]:
    """Yield the rows that say something; a page that names a fault in each of half a million is none that anybody could read."""
    for seen, row in enumerate((row for row in rows if any(row.values)), start=1):
        if seen > most:
            raise BadFile(Fault(0, f"This file has more than {most:,} rows, and so many are not taken."))
        yield row


def _decode(data: bytes) -> str:
    for start, name in _OTHER_ENCODINGS.items():
        if data.startswith(start):
            raise BadFile(Fault(0, f"This file is in {name}, not in UTF-8. {_ADVICE}"))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(_name_encoding(data, error.start)) from error
    if "\0" in text:
        raise BadFile(
            Fault(text.count("\n", 0, text.index("\0")) + 1, "There is a NUL here: this is no text.")
        )
    return text


def _name_encoding(data: bytes, place: int) -> Fault:
    """Name the line that is not UTF-8, and how it reads in the encoding that Western European Windows writes."""
    line = data.count(b"\n", 0, place) + 1
    word = data[place : place + 1].decode("cp1252", errors="replace")
    return Fault(line, f"This file is not in UTF-8; perhaps in Windows-1252, with “{word}” here. {_ADVICE}")


def _find_separator(text: str) -> tuple[int, str, str]:
    """Return the number of the first line, the separator, and the text without a line that only names it."""
    start, _, rest = text.partition("\n")
    said = start.strip("\r").lower()
    if len(said) == len("sep=;") and said.startswith("sep=") and said[-1] in SEPARATORS:
        return 2, said[-1], rest
    header = next((line for line in io.StringIO(text, newline="") if line.strip()), "")
    unquoted = "".join(header.split('"')[::2])
    return 1, max(SEPARATORS, key=unquoted.count), text


def _split(text: str, separator: str, first_line: int) -> Iterator[Row]:
    """Yield the rows; a quoted value may go over several lines, and its row is named by the first."""
    lines = io.StringIO(
        text, newline=""
    )  # the module's own advice: lines end where CSV says, not where Unicode does
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=separator != "\t", strict=True)
    begin = first_line
    try:
        for values in reader:
            yield Row(begin, [unguard(value.strip()) for value in values])
            begin = first_line + reader.line_num
    except csv.Error as error:
        raise BadFile(Fault(begin, f"The quotes of this row do not fit together ({error}).")) from error


def _name_misfit(row: Row, width: int, separator: str) -> Fault:
    found, wanted = len(row.values), f"{width} column{'s' if width > 1 else ''}"
    what = f"{found} value{'s' if found > 1 else ''} in this row, but {wanted} in the header."
    is_comma = separator == "," and found > width
    return Fault(
        row.line, f"{what} A decimal comma needs quotes in a file with commas." if is_comma else what
    )
