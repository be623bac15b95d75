"""A teacher's changes are saved: all that can be, in one transaction, and each of the others answered for itself.

The one thing to know: a cell is judged by the version the teacher's page was based on. A stale cell is not written but comes back
as a conflict (mine, theirs, who, when), a cell that cannot hold the entry as a refusal; neither keeps the rest from being saved.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from django.db import transaction
from uuid_utils.compat import uuid7

from gradebook import queries
from gradebook.cells import CellChange, CellKey, StoredCell, Verdict, after_teacher, judge_change
from gradebook.entries import Entry, check_entry
from gradebook.errors import Malformed
from gradebook.models import MarkSheet, MarkSource, User
from gradebook.queries import CellView, view_cell
from gradebook.services.editing import require_editor
from gradebook.services.marks.facts import Change, Names, describe_change, record_changes
from gradebook.services.marks.opening import OpenSheet, open_sheet
from gradebook.services.marks.rows import Place, insert_blank_cells, lock_cells
from gradebook.services.terms import require_open
from outbox.log.publish import Actor
from outbox.models.log import ActorType


@dataclasses.dataclass(frozen=True, slots=True)
class Conflict:
    """A cell somebody else changed since: what the teacher wants, and what stands there (with who and when)."""

    mine: Entry
    theirs: CellView


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """A cell that cannot hold the entry, and why: a stable code and a sentence."""

    key: CellKey
    code: str
    detail: str


@dataclasses.dataclass(frozen=True, slots=True)
class SaveOutcome:
    """What became of each change, in key order: every one is in exactly one of the three."""

    saved: list[CellView]
    conflicts: list[Conflict]
    refused: list[Refusal]


def save_marks(
    *, sheet: MarkSheet, changes: Sequence[CellChange], by: User, generation: int | None = None
) -> SaveOutcome:
    """Save a teacher's changes to a sheet; at most one change a cell. Constant number of queries.

    `generation` is that of the term when the teacher's page was loaded (None: no page). Shares the term, locks the columns among them
    (shared: their maximum stands still meanwhile), then the cells in key order. Raises `SheetNotFound` or `MarksAreReadOnly` when `by`
    may not, `TermIsLocked` or `TermMovedOn` when nobody may, `Malformed` when a cell comes twice. Every cell that changes appends
    `MarkChanged`; a cell that already shows what is asked for is answered as saved and appends nothing.
    """
    wishes = {change.key: change for change in sorted(changes, key=lambda change: change.key)}
    if len(wishes) != len(changes):
        raise Malformed("A cell may be named once in a request.")
    firsts = [wish for wish in wishes.values() if wish.version == 0 and not wish.entry.is_blank]
    with transaction.atomic():
        known = open_sheet(sheet, by, wishes, with_cells=not firsts)
        if not known.may_edit:
            require_editor(sheet, by)
        require_open(known.term, generation)
        refusals = {key: refusal for key, wish in wishes.items() if (refusal := _refuse(wish, known))}
        sound = [wish for key, wish in wishes.items() if key not in refusals]
        stored = _make_and_lock(sheet, sound, by) if firsts else known.cells
        verdicts = {wish.key: judge_change(wish, stored.get(wish.key)) for wish in sound}
        written = _write(
            sheet, [wish for wish in sound if verdicts[wish.key] is Verdict.WRITE], stored, known, by
        )
    return _answer(wishes, verdicts, {**stored, **written}, list(refusals.values()), by)


def _refuse(wish: CellChange, known: OpenSheet) -> Refusal | None:
    column = known.columns.get(wish.key.column_id)
    if column is None:
        return Refusal(wish.key, "unknown_column", "This column is not in this mark sheet.")
    if wish.key.student_id not in known.students:
        return Refusal(wish.key, "not_in_class", "This student is not in this class.")
    refused = check_entry(wish.entry, max_points=column.max_points)
    return Refusal(wish.key, refused.problem, refused.detail) if refused else None


def _make_and_lock(sheet: MarkSheet, wishes: Sequence[CellChange], by: User) -> dict[CellKey, StoredCell]:
    """Make a row for each first mark, and only then lock all rows there are. A row made here is always written below."""
    firsts = [wish for wish in wishes if wish.version == 0 and not wish.entry.is_blank]
    insert_blank_cells(_places(sheet, firsts), source=MarkSource.TEACHER, by_id=by.pk)
    return lock_cells(_places(sheet, wishes))


def _places(sheet: MarkSheet, wishes: Iterable[CellChange]) -> list[Place]:
    return [Place(wish.key, sheet.pk, sheet.school_id) for wish in wishes]


def _write(
    sheet: MarkSheet,
    wishes: Sequence[CellChange],
    stored: Mapping[CellKey, StoredCell],
    known: OpenSheet,
    by: User,
) -> dict[CellKey, StoredCell]:
    changes = [_change(stored[wish.key], wish, by) for wish in wishes]
    batch_id = uuid7()
    events = [
        describe_change(
            change,
            _names(sheet, change.after.key, known, by),
            by=Actor(ActorType.PERSON, by.pk),
            batch_id=batch_id,
        )
        for change in changes
    ]
    times = record_changes([change.after for change in changes], events)
    return {c.after.key: dataclasses.replace(c.after, changed_at=times[c.after.id]) for c in changes}


def _change(before: StoredCell, wish: CellChange, by: User) -> Change:
    after = after_teacher(before, wish.entry, by_id=by.pk)
    is_cleared = wish.how == "typed" and wish.entry.is_blank
    return Change(before, after, "cleared" if is_cleared else wish.how, origin=wish.origin)


def _names(sheet: MarkSheet, key: CellKey, known: OpenSheet, by: User) -> Names:
    title = known.columns[key.column_id].title
    return Names(sheet.school_id, title, known.students[key.student_id], by.full_name)


def _answer(
    wishes: Mapping[CellKey, CellChange],
    verdicts: Mapping[CellKey, Verdict],
    cells: Mapping[CellKey, StoredCell],
    refused: list[Refusal],
    by: User,
) -> SaveOutcome:
    others = {cell.changed_by_id for cell in cells.values()} - {None, by.pk}
    names = {by.pk: by.full_name} | (queries.list_names(others) if others else {})
    views = {key: view_cell(key, cells.get(key), names) for key in verdicts}
    clashes = {key for key, verdict in verdicts.items() if verdict is Verdict.CONFLICT}
    return SaveOutcome(
        saved=[view for key, view in views.items() if key not in clashes],
        conflicts=[Conflict(wishes[key].entry, view) for key, view in views.items() if key in clashes],
        refused=refused,
    )
