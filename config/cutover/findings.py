"""What a gate found: exact cells, in words an operator can act on."""

import dataclasses
import time
from collections.abc import Collection
from typing import Self
from uuid import UUID

from gradebook.cells import CellKey
from gradebook.models import Column, MarkSheet, User

MOST_NAMED = 20


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """Something that differs; `key` is the cell, where it is one."""

    sheet_id: UUID | None
    key: CellKey | None
    what: str


@dataclasses.dataclass(slots=True)
class GateReport:
    """What a gate said: how much it looked at and for how long, how much differs, and the first of it.

    `unchanged` of the sheets it looked at were known to be right, and nothing about them has changed.
    """

    name: str
    began: float
    seconds: float = 0.0
    looked_at: int = 0
    unchanged: int = 0
    total: int = 0
    first: list[Finding] = dataclasses.field(default_factory=list)

    @property
    def is_green(self) -> bool:
        """Whether nothing differs."""
        return self.total == 0

    def add(self, finding: Finding) -> None:
        """Take in a difference."""
        self.total += 1
        if len(self.first) < MOST_NAMED:
            self.first.append(finding)

    def count_sheet(self, *, is_known: bool) -> None:
        """Take in that a sheet was looked at."""
        self.looked_at += 1
        self.unchanged += is_known

    def end(self) -> Self:
        """Stop the clock, and return this report."""
        self.seconds = time.monotonic() - self.began
        return self


def name_findings(findings: Collection[Finding]) -> list[str]:
    """Return each finding with the names of its sheet, student and column as they are now. Three queries."""
    sheets = MarkSheet.objects.select_related("course", "school_class", "period").in_bulk(
        {finding.sheet_id for finding in findings if finding.sheet_id}
    )
    keys = [finding.key for finding in findings if finding.key]
    students = User.objects.in_bulk({key.student_id for key in keys})
    columns = Column.objects.in_bulk({key.column_id for key in keys})
    return [_name(finding, sheets, students, columns) for finding in findings]


def _name(
    finding: Finding, sheets: dict[UUID, MarkSheet], students: dict[UUID, User], columns: dict[UUID, Column]
) -> str:
    parts = []
    if finding.sheet_id:
        sheet = sheets.get(finding.sheet_id)
        parts.append(str(sheet) if sheet else f"sheet {finding.sheet_id}")
    if finding.key:
        student, column = students.get(finding.key.student_id), columns.get(finding.key.column_id)
        parts.append(student.full_name if student else f"student {finding.key.student_id}")
        parts.append(column.title if column else f"column {finding.key.column_id}")
    return ": ".join([", ".join(parts), finding.what]) if parts else finding.what
