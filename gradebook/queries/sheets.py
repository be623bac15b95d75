"""Mark sheets with their columns and students.

The one thing to know: who is on a sheet is one rule, `list_students`, used by the grid and by saving alike.
"""

import dataclasses
import datetime as dt
import hashlib
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from gradebook import policies
from gradebook.errors import SheetNotFound
from gradebook.models import Column, Enrolment, Mark, MarkSheet, Period, SchoolClass, User
from gradebook.queries.names import by_name


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    """The head and the side of a grid: columns in their order, students by name (with `left_on`)."""

    columns: list[Column]
    students: list[User]

    @property
    def digest(self) -> str:
        """A short text that differs when a page built from this layout should be loaded again."""
        parts = [f"{c.pk} {c.title} {c.max_points:f}" for c in self.columns]
        parts += [f"{s.pk} {s.full_name}" for s in self.students]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def find_viewable_sheet(sheet_id: UUID, *, user: User) -> MarkSheet | None:
    """Return a sheet this person may read, with its parts, `teaches` and `may_edit` on it. One query.

    Who teaches it may edit it until its term is locked, and then propose amendments.
    """
    sheets = policies.sheets_viewable_by(user).select_related("school", "period", "course", "school_class")
    teaches = Exists(policies.sheets_editable_by(user).filter(pk=OuterRef("pk")))
    may_edit = Q(teaches=True, period__locked_at__isnull=True)
    return sheets.annotate(teaches=teaches).annotate(may_edit=may_edit).filter(pk=sheet_id).first()


def get_viewable_sheet(sheet_id: UUID, *, user: User) -> MarkSheet:
    """Return a sheet this person may read, as `find_viewable_sheet`, or raise `SheetNotFound`."""
    sheet = find_viewable_sheet(sheet_id, user=user)
    if sheet is None:
        raise SheetNotFound
    return sheet


def list_my_sheets(user: User) -> QuerySet[MarkSheet]:
    """Return the sheets this person may read: newest period first, each with its numbers of columns, students and marks.

    One query.
    """
    here = {"sheet": OuterRef("pk")}
    members = _enrolments(
        OuterRef("school_class"), OuterRef("period__starts_on"), OuterRef("period__ends_on")
    )
    filled = Mark.objects.filter(Q(value__isnull=False) | ~Q(code=""), **here)
    return (
        policies.sheets_viewable_by(user)
        .select_related("school", "period", "course", "school_class")
        .annotate(
            column_count=_count(Column.objects.filter(**here)),
            student_count=_count(members),
            mark_count=_count(filled),
        )
        .order_by(
            "-period__starts_on", "period__name", "school__name", "course__title", "school_class__name", "id"
        )
    )


def get_layout(sheet: MarkSheet) -> Layout:
    """Return the columns and students of a sheet. Two queries."""
    return Layout(list(Column.objects.filter(sheet=sheet)), list(list_students(sheet)))


def list_students(sheet: MarkSheet) -> QuerySet[User]:
    """Return who is on a sheet, by name: those in the class on any day of the period, and whoever has a mark in it.

    Somebody who left in mid-term therefore keeps a row, with `left_on` set. One query.
    """
    return _list_people(sheet.period, sheet.school_class_id, Mark.objects.filter(sheet=sheet))


def list_members(period: Period, school_class: SchoolClass) -> QuerySet[User]:
    """Return who is on any sheet of a class in a period, by the rule of `list_students`. One query."""
    marks = Mark.objects.filter(sheet__period=period, sheet__school_class=school_class)
    return _list_people(period, school_class.pk, marks)


def _list_people(period: Period, school_class: UUID, with_marks: QuerySet[Mark]) -> QuerySet[User]:
    members = _enrolments(school_class, period.starts_on, period.ends_on)
    last_end = members.filter(student=OuterRef("pk")).order_by(F("ends_on").desc(nulls_first=True))
    return (
        User.objects.filter(pk__in=members.values("student").union(with_marks.values("student")))
        .annotate(left_on=Subquery(last_end.values("ends_on")[:1]))
        .order_by(*by_name())
    )


def enrolments_in(period: Period) -> QuerySet[Enrolment]:
    """Return the enrolments, in whatever class, that touch a day of a period."""
    return _touching(period.starts_on, period.ends_on)


def _enrolments(
    school_class: UUID | OuterRef, starts_on: dt.date | OuterRef, ends_on: dt.date | OuterRef
) -> QuerySet[Enrolment]:
    """Return the enrolments in a class that touch these days."""
    return _touching(starts_on, ends_on).filter(school_class=school_class)


def _touching(starts_on: dt.date | OuterRef, ends_on: dt.date | OuterRef) -> QuerySet[Enrolment]:
    return Enrolment.objects.filter(
        Q(ends_on__isnull=True) | Q(ends_on__gte=starts_on), starts_on__lte=ends_on
    )


def _count(rows: QuerySet[Any]) -> Coalesce:
    """Return the number of distinct rows of a correlated query, as an annotation."""
    counted = rows.order_by().annotate(_=Value(1)).values("_").annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counted), 0)
