"""A file is read twice: once to find everything that is wrong with it, once to write it, in one transaction.

The one thing to know: memory is bounded by a few lines and by what the schools in the file are made of, never by the length of the file.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.db import connection, reset_queries, transaction

from gradebook.models import MarkSheet, User
from gradebook.services.columns import add_column
from gradebook.snapshots.carrying import carry_over_marks
from gradebook.snapshots.importing.errors import BadFile, BadLine, Refused
from gradebook.snapshots.importing.lines import FileColumn, read_line
from gradebook.snapshots.importing.resolving import Directory, SheetHere
from outbox.db import load_sql

LONGEST_LINE: Final = 16 * 2**20
MOST_NAMED: Final = 20
# Bytes of lines; as rows they are some five times as many, and there several times over.
WRITTEN_AT_ONCE: Final = 2**19

Report = Callable[[int, int], object]  # (bytes read, bytes in all), after every line


@dataclasses.dataclass
class _Newest:
    """The newest copy of a sheet in the file: its columns are the ones the sheet needs."""

    created_at: datetime
    columns: list[FileColumn]


@dataclasses.dataclass
class Checked:
    """A file without faults."""

    copies: int
    newest: dict[int, tuple[SheetHere, _Newest]]
    directory: Directory


@dataclasses.dataclass(frozen=True, slots=True)
class Imported:
    """What an import did. `marks` were taken over from the newest copies, where a sheet had none yet."""

    copies: int
    added: int
    marks: int
    sheets: list[UUID]


def check_file(path: Path, *, report: Report) -> Checked:
    """Read a file and write nothing. Raises `BadFile`, which names the lines that are wrong and what to do about each."""
    directory = Directory()
    faults: list[BadLine] = []
    checked = Checked(0, {}, directory)
    for number, raw in _read(path, report):
        try:
            _check_line(raw, checked)
        except Refused as refused:
            faults.append(BadLine(number, refused.what, refused.todo))
            if len(faults) == MOST_NAMED:
                break
    if faults:
        raise BadFile(faults)
    return checked


def import_file(path: Path, *, by: User, report: Report) -> Imported:
    """Import a file: all of it, or nothing of it. What is here already, with the same content, is not added again.

    `by` answers for what is opened and taken over: the columns of the newest copies, and the marks in them. One transaction;
    the caller opens a wider one to void what was made from the copies before. Raises `BadFile`, and `gradebook.errors` where the term is locked.
    """
    checked = check_file(path, report=lambda *_: None)
    with transaction.atomic():
        for here, newest in checked.newest.values():
            _open_columns(here, newest.columns, by)
        added = sum(_write(batch) for batch in _batches(path, checked.directory, report))
        sheets = [here.open() for here, _ in checked.newest.values()]
        marks = sum(carry_over_marks(sheet=sheet, by=by) for sheet in sheets)
    return Imported(checked.copies, added, marks, [sheet.pk for sheet in sheets])


def _check_line(raw: bytes, checked: Checked) -> None:
    if len(raw) > LONGEST_LINE:
        raise Refused(f"The line is longer than {LONGEST_LINE} bytes.", "A copy of one class is smaller.")
    copy = read_line(raw)
    here = checked.directory.find_sheet(copy)
    checked.directory.check_students(copy)
    known = checked.newest.get(id(here))
    if known is None or known[1].created_at <= copy.created_at:
        checked.newest[id(here)] = (here, _Newest(copy.created_at, copy.columns))
    checked.copies += 1


def _read(path: Path, report: Report) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with their numbers; a line that is too long is yielded cut, and empty lines not at all."""
    total, done, number = path.stat().st_size, 0, 0
    with path.open("rb") as file:
        while raw := file.readline(LONGEST_LINE + 1):
            number += 1
            done += len(raw)
            if raw.strip():
                yield number, raw
            while len(raw) > LONGEST_LINE and not raw.endswith(b"\n"):
                raw = file.readline(LONGEST_LINE + 1)
                done += len(raw)
            report(done, total)


def _open_columns(here: SheetHere, columns: Iterable[FileColumn], by: User) -> None:
    sheet: MarkSheet = here.open()
    titles = set(sheet.columns.values_list("title", flat=True))
    for column in columns:
        if column.title not in titles:
            add_column(sheet=sheet, title=column.title, max_points=column.max_points, by=by)


def _batches(path: Path, directory: Directory, report: Report) -> Iterator[list[tuple[int, dict[str, Any]]]]:
    batch: list[tuple[int, dict[str, Any]]] = []
    size = 0
    for number, raw in _read(path, report):
        batch.append((number, directory.as_row(read_line(raw))))
        size += len(raw)
        if size >= WRITTEN_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _write(batch: list[tuple[int, dict[str, Any]]]) -> int:
    """Write the copies of these lines that are not here yet; return how many. Raises `BadFile` for one that is here with other content."""
    copies = json.dumps([row for _, row in batch])
    with connection.cursor() as cursor:
        cursor.execute(load_sql("gradebook", "list_altered_copies"), {"copies": copies})
        altered = {str(found) for (found,) in cursor.fetchall()}
        if altered:
            raise BadFile(
                [
                    BadLine(
                        number,
                        "A copy of this id is here already, and says something else.",
                        "Copies never change: give it another id, or take the line out.",
                    )
                    for number, row in batch
                    if row["id"] in altered
                ]
            )
        cursor.execute(load_sql("gradebook", "import_copies"), {"copies": copies})
        reset_queries()  # with DEBUG Django keeps every statement it ran, and these carry the file with them
        return int(cursor.rowcount)
