"""What a file would change in a sheet, and everything that is wrong with it. Pure: preview, refusal and save come from the same plan.

The one thing to know: with one fault nothing is imported. A student is named by their user name, exactly; one who is not on the
sheet, or comes twice, is a fault, and so is a value that the grid would not take. An empty value, or the lone dash that other
gradebooks write for it, leaves its mark as it is, unless the import is told to clear; no column is ever made.
"""

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gradebook.cells import CellChange, CellKey, StoredCell
from gradebook.entries import BLANK, DecimalSign, Entry, Refused, check_entry, read_entry
from gradebook.imports.heads import HeadWishes, match_heads
from gradebook.imports.tables import BadFile, Fault, Row, Table
from gradebook.models import Column, User

LONGEST_NAME: Final = 120
LONGEST_VALUE: Final = 40
NO_MARK: Final = frozenset(
    {"-", "\N{EN DASH}", "\N{EM DASH}"}
)  # what other gradebooks write where there is none


@dataclasses.dataclass(frozen=True, slots=True)
class Sheet:
    """What a file is held against: the sheet's columns, its students by user name, its marks as they are."""

    columns: Sequence[Column]
    students: Mapping[str, User]
    cells: Mapping[CellKey, StoredCell]


@dataclasses.dataclass(frozen=True, slots=True)
class Wishes:
    """How a file is to be read; `is_clearing`: an empty value takes the mark away; `worksheet`: which one of a workbook."""

    decimal_sign: DecimalSign
    file_name: str
    heads: HeadWishes = dataclasses.field(default_factory=HeadWishes)
    is_clearing: bool = False
    worksheet: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class PlannedChange:
    """A mark that the file changes: on which line, whose, from what to what."""

    line: int
    column: Column
    student: User
    old: Entry
    change: CellChange

    @property
    def new(self) -> Entry:
        """What the cell will show."""
        return self.change.entry


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """What an import will do or, where there are faults, why it does nothing."""

    changes: list[PlannedChange] = dataclasses.field(default_factory=list)
    unchanged: int = 0
    empty: int = 0
    ignored: list[str] = dataclasses.field(default_factory=list)
    faults: list[Fault] = dataclasses.field(default_factory=list)

    @property
    def digest(self) -> str:
        """A text that differs when something else would be written than was shown, or over something else."""
        parts = [f"{c.line} {c.change.key} {c.change.version} {c.old} {c.new}" for c in self.changes]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def plan_import(table: Table, sheet: Sheet, wishes: Wishes) -> Plan:
    """Return what a file would do to a sheet."""
    try:
        heads = match_heads(table.header, sheet.columns, wishes.heads)
    except BadFile as error:
        return Plan(faults=list(error.faults))
    faults = list(table.faults)
    values = [
        _Value(row.line, column, student, _read_value(row.values[place]))
        for row, student in _name_students(table.rows, sheet, heads.student, faults)
        for place, column in heads.columns.items()
    ]
    full = [value for value in values if value.text or wishes.is_clearing]
    planned = [change for value in full if (change := _plan(value, sheet, wishes, faults))]
    changes = [change for change in planned if change.old != change.new]
    return Plan(
        changes=changes,
        unchanged=len(planned) - len(changes),
        empty=len(values) - len(full),
        ignored=heads.ignored,
        faults=sorted(faults, key=lambda fault: fault.line),
    )


def name_origin(file_name: str, line: int) -> str:
    """Return the place of a value, as the mark's history says it."""
    name = "".join(letter for letter in file_name if letter.isprintable()).strip() or "a file"
    shown = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
    return f"{shown}, line {line}"


@dataclasses.dataclass(frozen=True, slots=True)
class _Value:
    """A value of the file, in the cell it is for."""

    line: int
    column: Column
    student: User
    text: str

    @property
    def key(self) -> CellKey:
        return CellKey(self.column.pk, self.student.pk)


def _name_students(
    rows: Sequence[Row], sheet: Sheet, place: int, faults: list[Fault]
) -> Iterator[tuple[Row, User]]:
    """Yield each row with its student; the others are faults."""
    first_lines: dict[str, int] = {}
    for row in rows:
        name = User.normalize_username(row.values[place])  # an accent may be stored in two ways
        first = first_lines.setdefault(name, row.line)
        if not name:
            faults.append(Fault(row.line, "No student is named in this row."))
        elif name not in sheet.students:
            faults.append(Fault(row.line, f"“{name}” is no user name of a student in this mark sheet."))
        elif first != row.line:
            faults.append(Fault(row.line, f"“{name}” is on line {first} already: which row counts?"))
        else:
            yield row, sheet.students[name]


def _read_value(text: str) -> str:
    return "" if text in NO_MARK else text


def _plan(value: _Value, sheet: Sheet, wishes: Wishes, faults: list[Fault]) -> PlannedChange | None:
    """Judge a value as the grid would; what it refuses is a fault."""
    entry = read_entry(value.text, decimal_sign=wishes.decimal_sign)
    refused = entry if isinstance(entry, Refused) else check_entry(entry, max_points=value.column.max_points)
    if isinstance(entry, Refused) or refused:
        assert refused
        cell = f"{value.student.full_name}, {value.column.title}, “{value.text[:LONGEST_VALUE]}”"
        faults.append(Fault(value.line, f"{cell}: {refused.detail}"))
        return None
    stored = sheet.cells.get(value.key)
    change = CellChange(
        value.key,
        stored.version if stored else 0,
        entry,
        how="imported",
        origin=name_origin(wishes.file_name, value.line),
    )
    return PlannedChange(value.line, value.column, value.student, stored.entry if stored else BLANK, change)
