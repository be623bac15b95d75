"""Cells as of a position, laid out as the sheet: a row a student, a column an assessment, named as they were then. Pure."""

import dataclasses
import unicodedata
from collections.abc import Iterable
from uuid import UUID

from projections.history.lines import NO_MARK, HistoryLine, describe_change
from projections.models import HistoryEntry


@dataclasses.dataclass(frozen=True, slots=True)
class Grid:
    """`rows` holds for each student a line or None for each of `columns`."""

    columns: list[str]
    rows: list[tuple[str, list[HistoryLine | None]]]

    @property
    def has_marks(self) -> bool:
        """Whether any cell showed anything."""
        return any(line and line.new != NO_MARK for _, lines in self.rows for line in lines)


def lay_out(cells: Iterable[HistoryEntry]) -> Grid:
    """Return the cells as a grid: students by family name, columns in the order they were made (their ids rise with time).

    A name is that of the newest change among the cells given, so a column that was renamed later has its old title.
    """
    titles: dict[UUID, tuple[int, str]] = {}
    names: dict[UUID, tuple[int, str]] = {}
    lines: dict[tuple[UUID, UUID], HistoryLine] = {}
    for cell in cells:
        titles[cell.column_id] = max(
            titles.get(cell.column_id, (cell.pos, "")), (cell.pos, cell.column_title)
        )
        names[cell.student_id] = max(
            names.get(cell.student_id, (cell.pos, "")), (cell.pos, cell.student_name)
        )
        lines[cell.student_id, cell.column_id] = describe_change(cell)
    columns = sorted(titles)
    students = sorted(names, key=lambda student_id: (look_up(names[student_id][1]), student_id))
    rows = [
        (names[student_id][1], [lines.get((student_id, column_id)) for column_id in columns])
        for student_id in students
    ]
    return Grid([titles[column_id][1] for column_id in columns], rows)


def look_up(name: str) -> tuple[str, str]:
    """Return a name as it is looked up: by its last word (the log knows whole names only), without marks on letters, as the sheet does."""
    plain = "".join(
        letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter)
    )
    return plain.casefold().rpartition(" ")[2], plain.casefold()
