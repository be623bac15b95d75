"""Columns of a mark sheet: added, renamed, given another maximum, removed. Each is an event, because it changes what marks mean.

The one thing to know: an edit locks its column, and saving marks shares that lock, so a maximum can never end up below a mark, and no
column goes that has one.
"""

from decimal import Decimal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max, ProtectedError

from gradebook import policies
from gradebook.entries import plain
from gradebook.errors import ColumnNotFound, ColumnRefused, SheetNotFound
from gradebook.events import ColumnChanged, ColumnRemoved, ColumnState, column_subject
from gradebook.models import Column, ColumnSource, Mark, MarkSheet, User
from gradebook.models.marks import STUDENT_HEAD, fold_title
from gradebook.services.facts import event_by
from gradebook.services.terms import changing_marks, require_open
from outbox.log.publish import publish


def add_column(
    *, sheet: MarkSheet, title: str, max_points: Decimal, by: User, source_id: UUID | None = None
) -> Column:
    """Add a column at the end of the sheet; `source_id` names the exam whose results it takes.

    Locks the sheet, so that two new columns get two places. Raises `SheetNotFound`, `TermIsLocked`, or `ColumnRefused`
    for a taken title.
    """
    with changing_marks([sheet.period_id]) as terms:
        _require_arranger(sheet, by)
        require_open(terms[sheet.period_id])
        return _append_column(sheet, title, max_points, source_id, by)


def open_exam_column(*, sheet: MarkSheet, exam_id: UUID, title: str, max_points: Decimal, by: User) -> Column:
    """Return the sheet's column for an exam, adding it if there is none yet; twice is the same as once.

    For whoever sets the exam (an administrator, too): a column is where results go, not a mark. Locks the sheet; raises
    `ColumnRefused` for a taken title, `TermIsLocked` where there is none yet and the term is locked.
    """
    with changing_marks([sheet.period_id]) as terms:
        MarkSheet.objects.select_for_update(no_key=True).get(pk=sheet.pk)
        found = sheet.columns.filter(source_id=exam_id).first()
        if found is None:
            require_open(terms[sheet.period_id])
        return found or _append_column(sheet, title, max_points, exam_id, by)


def edit_column(*, column_id: UUID, sheet: MarkSheet, title: str, max_points: Decimal, by: User) -> Column:
    """Rename a column and set its maximum. Nothing changed: nothing said.

    Locks the sheet, so that two columns renamed at once get two titles, and then the column. Raises `SheetNotFound`, `TermIsLocked`,
    `ColumnNotFound`, or `ColumnRefused` for a taken title, a maximum below a mark that is there, and another maximum than its exam's.
    """
    with changing_marks([sheet.period_id]) as terms:
        _require_arranger(sheet, by)
        require_open(terms[sheet.period_id])
        MarkSheet.objects.select_for_update(no_key=True).get(pk=sheet.pk)
        column = _lock_column(sheet, column_id)
        before = _state(column)
        if title != column.title:
            check_free_title(sheet, title, but=column.pk)
        if max_points != column.max_points:
            check_new_maximum(column, max_points)
        column.title, column.max_points = title, max_points
        if _state(column) != before:
            column.version += 1
            _store(column)
            _publish_change(column, before, by)
    return column


def remove_column(*, column_id: UUID, sheet: MarkSheet, by: User) -> None:
    """Take a column away that never had a mark: one that was added by mistake.

    Locks the column. Raises `SheetNotFound`, `TermIsLocked`, `ColumnNotFound`, or `ColumnRefused` where it is more than a title.
    """
    with changing_marks([sheet.period_id]) as terms:
        _require_arranger(sheet, by)
        require_open(terms[sheet.period_id])
        column = _lock_column(sheet, column_id)
        if Mark.objects.filter(sheet=sheet, column=column).exists():
            raise ColumnRefused("This column has marks, or had some, and stays with its history.")
        fact = ColumnRemoved(
            school_id=sheet.school_id,
            sheet_id=sheet.pk,
            column_id=column.pk,
            actor_name=by.full_name,
            old=_state(column),
        )
        version = column.version + 1
        try:
            column.delete()
        except ProtectedError as error:
            raise ColumnRefused("This column is in use: an exam or an amendment names it.") from error
        publish([event_by(by, fact, subject=column_subject(column_id), subject_version=version)])


def _append_column(
    sheet: MarkSheet, title: str, max_points: Decimal, source_id: UUID | None, by: User
) -> Column:
    """Lock the sheet, so that two new columns get two places, and add the column at its end."""
    MarkSheet.objects.select_for_update(no_key=True).get(pk=sheet.pk)
    check_free_title(sheet, title)
    last = sheet.columns.aggregate(last=Max("position"))["last"]
    column = Column(
        sheet=sheet,
        title=title,
        max_points=max_points,
        position=0 if last is None else last + 1,
        source=ColumnSource.EXAM if source_id else ColumnSource.MANUAL,
        source_id=source_id,
    )
    _store(column)
    _publish_change(column, None, by)
    return column


def check_new_maximum(column: Column, max_points: Decimal) -> None:
    """Raise `ColumnRefused` where a column cannot have this maximum: it is its exam's, or a mark above it is there."""
    if column.source == ColumnSource.EXAM:
        raise ColumnRefused("This column's maximum is its exam's.", pointer="/max_points")
    highest = Mark.objects.filter(sheet=column.sheet_id, column=column).aggregate(top=Max("value"))["top"]
    if highest is not None and highest > max_points:
        raise ColumnRefused(f"A mark of {plain(highest)} is already in this column.", pointer="/max_points")


def check_free_title(sheet: MarkSheet, title: str, *, but: UUID | None = None) -> None:
    """Raise `ColumnRefused` where a file's header would mean this title and another column's: case and blanks do not count there."""
    if fold_title(title) == STUDENT_HEAD:
        raise ColumnRefused(
            f"In a file of marks “{STUDENT_HEAD}” says whose they are: choose another title.",
            pointer="/title",
        )
    others = (fold_title(column.title) for column in sheet.columns.all() if column.pk != but)
    if fold_title(title) in others:
        raise ColumnRefused("This mark sheet already has a column of that title.", pointer="/title")


def _require_arranger(sheet: MarkSheet, by: User) -> None:
    if not policies.may_arrange_sheet(by, sheet.pk):
        raise SheetNotFound


def _lock_column(sheet: MarkSheet, column_id: UUID) -> Column:
    column = sheet.columns.select_for_update(no_key=True).filter(pk=column_id).first()
    if column is None:
        raise ColumnNotFound
    return column


def _store(column: Column) -> None:
    try:
        with transaction.atomic():
            column.save()
    except IntegrityError as error:
        if "column_titles_unique_in_sheet" not in str(error):
            raise
        raise ColumnRefused(
            "This mark sheet already has a column of that title.", pointer="/title"
        ) from error


def _publish_change(column: Column, before: ColumnState | None, by: User) -> None:
    fact = ColumnChanged(
        school_id=column.sheet.school_id,
        sheet_id=column.sheet_id,
        column_id=column.pk,
        actor_name=by.full_name,
        old=before,
        new=_state(column),
    )
    publish([event_by(by, fact, subject=column_subject(column.pk), subject_version=column.version)])


def _state(column: Column) -> ColumnState:
    return ColumnState(title=column.title, max_points=plain(column.max_points))
