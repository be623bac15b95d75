"""A file as a table, whatever kind of file it was: a header, rows that know their line, and what is wrong with it. Pure.

The one thing to know: a row is named by its number in the file, as whoever made the file sees it in a spreadsheet or an editor.
"""

import dataclasses
from collections.abc import Iterable
from typing import Final


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """How large a file may be: bytes, rows, and seconds of processor time to look into a workbook."""

    file: int
    rows: int
    seconds: int


SAVE_AGAIN: Final = "Save it as an Excel workbook (.xlsx) or as “CSV UTF-8”, and choose it again."
MOST_COLUMNS: Final = 500
MARKS: Final = Bounds(1024 * 1024, rows=2_000, seconds=5)  # of a class, chosen on a page
PEOPLE: Final = Bounds(
    16 * 1024 * 1024, rows=50_000, seconds=60
)  # of all schools together, by whoever runs this installation


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, and on which line of the file (0: with the file as a whole)."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}" if self.line else self.what


class BadFile(Exception):
    """The file is no table."""

    def __init__(self, *faults: Fault) -> None:
        self.faults = faults
        super().__init__("\n".join(map(str, faults)))


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """The values of a row, trimmed; `line` is where it begins in the file."""

    line: int
    values: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """A header and its rows, each with as many values; `faults` names the rows that are not among them, and why."""

    header: Row
    rows: list[Row]
    faults: list[Fault] = dataclasses.field(default_factory=list)


def part_header(rows: Iterable[Row]) -> tuple[Row, list[Row]]:
    """Return the first row that says anything, and the others; blank rows are passed over. Raises `BadFile` where there is none."""
    full = [row for row in rows if any(row.values)]
    if not full:
        raise BadFile(Fault(0, "There is nothing in this file."))
    return full[0], full[1:]
