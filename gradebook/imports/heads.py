"""Which column of a file holds the students, and which the marks of which column of the sheet. Pure.

The one thing to know: a header is matched as a whole, without regard to case and blanks, with a column's title or with the name that
somebody gave for it. What matches nothing is passed over and named (but for the names of the students, which
each file of ours has); a file in which nothing matches is refused.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from gradebook.imports.tables import BadFile, Fault, Row
from gradebook.models import Column
from gradebook.models.marks import STUDENT_HEAD, fold_title

STUDENT_HEADS: Final = (STUDENT_HEAD, "user name", "login", "sis login id", "student id")
# Heads the names in a file of ours: the first of these that is no title of the sheet.
NAME_HEADS: Final = ("name", "student", "full name", "name of the student")


@dataclasses.dataclass(frozen=True, slots=True)
class HeadWishes:
    """The columns that are wanted (None: every one the file has), and their headers, where those are not the titles."""

    columns: frozenset[UUID] | None = None
    heads: Mapping[UUID, str] = dataclasses.field(default_factory=dict)
    student_head: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Heads:
    """Where things are in a row: the user name, the marks by place, and the headers of marks that are passed over."""

    student: int
    columns: Mapping[int, Column]
    ignored: list[str]


def match_heads(header: Row, columns: Sequence[Column], wishes: HeadWishes) -> Heads:
    """Return what a header means, or raise `BadFile` naming everything that is wrong with it."""
    faults: list[Fault] = []
    student = _find_student(header, wishes.student_head, faults)
    places: dict[int, Column] = {}
    for column in columns:
        place = _find_column(header, column, wishes, faults)
        if place is not None and place in {student, *places}:
            faults.append(Fault(header.line, f"“{header.values[place]}” would be two columns of the sheet."))
        elif place is not None:
            places[place] = column
    if not (places or faults):
        titles = _quote(column.title for column in columns)
        faults.append(Fault(header.line, f"No header is the title of a column of this sheet: {titles}."))
    if faults or student is None:
        raise BadFile(*faults)
    others = [head for place, head in enumerate(header.values) if place not in {student, *places}]
    ignored = [head for head in others if head and fold_title(head) not in NAME_HEADS]
    return Heads(student, places, ignored)


def _find_student(header: Row, asked: str, faults: list[Fault]) -> int | None:
    for head in [asked] if asked else STUDENT_HEADS:
        if (place := _find(header, head, faults)) is not None:
            return place
    wanted = f"“{asked}”" if asked else "“username”, which says whose marks these are"
    faults.append(Fault(header.line, f"No header is {wanted}. There are: {_quote(header.values)}."))
    return None


def _find_column(header: Row, column: Column, wishes: HeadWishes, faults: list[Fault]) -> int | None:
    if wishes.columns is not None and column.pk not in wishes.columns:
        return None
    head = wishes.heads.get(column.pk, column.title)
    place = _find(header, head, faults)
    if place is None and wishes.columns is not None:
        faults.append(Fault(header.line, f"No header is “{head}”. There are: {_quote(header.values)}."))
    return place


def _find(header: Row, head: str, faults: list[Fault]) -> int | None:
    """Return the place of a header; one that comes twice is a fault."""
    found = [place for place, value in enumerate(header.values) if fold_title(value) == fold_title(head)]
    if len(found) > 1:
        faults.append(Fault(header.line, f"The header “{head}” comes {len(found)} times."))
    return found[0] if found else None


def _quote(names: Iterable[str]) -> str:
    return ", ".join(f"“{name}”" for name in names if name) or "none"
