"""Facts the gradebook publishes. Readers may rely on these shapes; a change of shape is a new version."""

import dataclasses
from typing import Any, Literal
from uuid import UUID

from outbox.facts import Fact

Reason = Literal[
    "typed", "cleared", "posted", "kept_beside", "pasted", "imported", "undone", "amended", "carried_over"
]


def cell_subject(column_id: UUID, student_id: UUID) -> str:
    """Return the subject key of one cell."""
    return f"cell:{column_id}:{student_id}"


def column_subject(column_id: UUID) -> str:
    """Return the subject key of one column."""
    return f"column:{column_id}"


def term_subject(period_id: UUID) -> str:
    """Return the subject key of one term."""
    return f"term:{period_id}"


def scheme_subject(sheet_id: UUID) -> str:
    """Return the subject key of a sheet's rules for totals."""
    return f"scheme:{sheet_id}"


def card_subject(period_id: UUID, student_id: UUID) -> str:
    """Return the subject key of one student's report cards of one term."""
    return f"card:{period_id}:{student_id}"


@dataclasses.dataclass(frozen=True, slots=True)
class CellState:
    """What a cell showed. `value` is a decimal as text, or None; `code` is empty or a `MarkCode`."""

    value: str | None
    code: str
    source: str


@dataclasses.dataclass(frozen=True, slots=True)
class MarkChanged(Fact):
    """One cell changed, from `old` (None where the cell had no mark yet) to `new`.

    Names are carried as they were at the time, so that history can be read without the live tables. `origin` (since version 2) is
    where an imported mark stood, such as "marks.csv, line 7"; it is left out where there is none, because events are kept for ever.
    """

    kind = "MarkChanged"
    version = 2

    school_id: UUID
    sheet_id: UUID
    column_id: UUID
    student_id: UUID
    column_title: str
    student_name: str
    actor_name: str
    old: CellState | None
    new: CellState
    automatic_value: str | None
    reason: Reason
    origin: str = ""

    def payload(self) -> dict[str, Any]:
        """Return the JSON object stored in the log."""
        payload = Fact.payload(self)
        if not self.origin:
            del payload["origin"]
        return payload


def upcast_mark_changed(payload: dict[str, Any]) -> dict[str, Any]:
    """Say a `MarkChanged` of version 1 in version 2: nothing is known of an origin, and that is not said."""
    return payload


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnState:
    """What a column said of itself; `max_points` is a decimal as text."""

    title: str
    max_points: str


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnChanged(Fact):
    """A column was added (`old` is None), renamed or given another maximum."""

    kind = "ColumnChanged"

    school_id: UUID
    sheet_id: UUID
    column_id: UUID
    actor_name: str
    old: ColumnState | None
    new: ColumnState


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnRemoved(Fact):
    """A column that never had a mark was taken away. Nothing follows it."""

    kind = "ColumnRemoved"

    school_id: UUID
    sheet_id: UUID
    column_id: UUID
    actor_name: str
    old: ColumnState


@dataclasses.dataclass(frozen=True, slots=True)
class TermLocked(Fact):
    """A term was locked; `generation` is the one its marks stand still at."""

    kind = "TermLocked"

    school_id: UUID
    period_id: UUID
    period_name: str
    generation: int
    actor_name: str


@dataclasses.dataclass(frozen=True, slots=True)
class TermOpened(Fact):
    """A locked term was opened again, for a reason."""

    kind = "TermOpened"

    school_id: UUID
    period_id: UUID
    period_name: str
    generation: int
    actor_name: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class TermAmended(Fact):
    """One cell of a locked term was changed by a signed amendment; the change itself is a `MarkChanged` of the same batch."""

    kind = "TermAmended"

    school_id: UUID
    period_id: UUID
    period_name: str
    generation: int
    amendment_id: UUID
    sheet_id: UUID
    column_id: UUID
    student_id: UUID
    reason: str
    proposed_by: str
    signed_by: str


@dataclasses.dataclass(frozen=True, slots=True)
class SchemeState:
    """The whole of a sheet's rules for totals; weights and percentages are decimals as text."""

    categories: list[dict[str, Any]]
    columns: list[dict[str, Any]]
    absent: str
    missing: str
    blank: str
    letters: list[list[str]]


@dataclasses.dataclass(frozen=True, slots=True)
class SchemeChanged(Fact):
    """A sheet's rules for totals were set, or set anew (`old` is None the first time)."""

    kind = "SchemeChanged"

    school_id: UUID
    sheet_id: UUID
    actor_name: str
    old: SchemeState | None
    new: SchemeState


@dataclasses.dataclass(frozen=True, slots=True)
class ReportCardIssued(Fact):
    """A report card was issued; `number` above 1: it replaces the one before. What stands on it is not said, its checksum is."""

    kind = "ReportCardIssued"

    school_id: UUID
    period_id: UUID
    student_id: UUID
    card_id: UUID
    number: int
    token: str
    position: str
    checksum: str
    actor_name: str
