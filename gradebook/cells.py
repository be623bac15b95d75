"""Cells of a mark sheet and what may happen to them. Pure: every decision about a mark is made here, no query is.

The one thing to know: `shown_version` is the version that last changed what a cell shows. A save based on that version or a later
one is current; based on an older one it is stale and is answered with a conflict, unless the cell already shows what it asks for.
An automatic result kept beside a teacher's mark makes a new version, but changes nothing a teacher sees, so it makes nobody stale.
"""

import dataclasses
import datetime as dt
import enum
from decimal import Decimal
from typing import Literal, NamedTuple
from uuid import UUID

from gradebook.entries import BLANK, Entry
from gradebook.models.marks import MarkSource


class CellKey(NamedTuple):
    """A column and a student. Cells are locked in the order of this key, everywhere."""

    column_id: UUID
    student_id: UUID


How = Literal["typed", "pasted", "imported"]


@dataclasses.dataclass(frozen=True, slots=True)
class CellChange:
    """What a teacher wants in a cell, and the version the wish is based on (0: there was no mark yet).

    `how` is the way it came; `origin` the file and line of an imported one.
    """

    key: CellKey
    version: int
    entry: Entry
    how: How = "typed"
    origin: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class AutomaticMark:
    """A result for a cell, found by a machine at `at`; `cause_id` is the event that brought it.

    `at` is the age of the *result*, not of the call: an older result than the one recorded changes nothing, which makes
    a replay of old posts harmless.
    """

    key: CellKey
    value: Decimal
    at: dt.datetime
    cause_id: UUID | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class StoredCell:
    """A mark row as locked: what it shows, whose it is, and which versions it has had."""

    id: UUID
    sheet_id: UUID
    key: CellKey
    entry: Entry
    source: str
    automatic_value: Decimal | None
    automatic_at: dt.datetime | None
    version: int
    shown_version: int
    changed_at: dt.datetime
    changed_by_id: UUID | None

    @property
    def is_new(self) -> bool:
        """Whether this transaction has just made the row: the cell had no mark before."""
        return self.version == 0

    @property
    def is_teachers_own(self) -> bool:
        """Whether a teacher's number or code stands here. A blank belongs to nobody."""
        return self.source == MarkSource.TEACHER and not self.entry.is_blank


class Verdict(enum.Enum):
    """What becomes of a change."""

    WRITE = enum.auto()
    KEEP_BESIDE = enum.auto()
    UNCHANGED = enum.auto()
    CONFLICT = enum.auto()


def judge_change(change: CellChange, stored: StoredCell | None) -> Verdict:
    """Decide a teacher's change. Saving what is already there changes nothing, whatever version it is based on.

    So a request repeated because its answer got lost is answered "saved", and typing the automatic value
    again does not turn it into a teacher's own.
    """
    if stored is None:
        return Verdict.UNCHANGED if change.entry == BLANK else Verdict.CONFLICT
    if stored.entry == change.entry and not stored.is_new:
        return Verdict.UNCHANGED
    if stored.shown_version <= change.version <= stored.version:
        return Verdict.WRITE
    return Verdict.CONFLICT


def judge_post(post: AutomaticMark, stored: StoredCell) -> Verdict:
    """Decide an automatic result: a teacher's own mark wins and the result stays beside it; old or known news is no news."""
    if stored.automatic_value == post.value:
        return Verdict.UNCHANGED
    if stored.automatic_at is not None and post.at < stored.automatic_at:
        return Verdict.UNCHANGED
    return Verdict.KEEP_BESIDE if stored.is_teachers_own else Verdict.WRITE


def after_teacher(stored: StoredCell, entry: Entry, *, by_id: UUID) -> StoredCell:
    """Return the cell with a teacher's entry in it; the automatic value stays beside."""
    version = stored.version + 1
    return dataclasses.replace(
        stored,
        entry=entry,
        source=MarkSource.TEACHER,
        version=version,
        shown_version=version,
        changed_by_id=by_id,
    )


def after_post(stored: StoredCell, post: AutomaticMark, verdict: Verdict) -> StoredCell:
    """Return the cell with an automatic result in it, or beside the teacher's own mark."""
    version = stored.version + 1
    beside = dataclasses.replace(stored, automatic_value=post.value, automatic_at=post.at, version=version)
    if verdict is Verdict.KEEP_BESIDE:
        return beside
    return dataclasses.replace(
        beside,
        entry=Entry(value=post.value),
        source=MarkSource.AUTOMATIC,
        shown_version=version,
        changed_by_id=None,
    )
