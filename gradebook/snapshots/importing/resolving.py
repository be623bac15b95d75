"""Whom and what the lines of a file mean here: schools, terms, courses, classes, people and columns by their names.

The written rule: schools, terms, courses, classes and students are never made by an import; a line that names one we do not have is refused. A
sheet is opened where there is none yet. A column is one of the sheet's by its title; a title that only older copies know stays in them
and in their history, under an id that follows from sheet and title. Whoever made a copy may be unknown: their name is kept.
"""

import dataclasses
import json
from functools import cached_property
from typing import Any, Final
from uuid import UUID, uuid5

from gradebook.entries import plain
from gradebook.models import Course, MarkSheet, MarkSnapshot, Period, School, SchoolClass, User
from gradebook.snapshots.importing.errors import Refused
from gradebook.snapshots.importing.lines import FileColumn, FileCopy

NAMESPACE: Final = UUID(
    "8f4b7a1e-1d5c-5f0b-8a53-6f5d2c0e9b47"
)  # of imported copies and of columns that are no more


@dataclasses.dataclass
class SchoolHere:
    """One school and what the file's lines name in it, by name."""

    school: School

    @cached_property
    def periods(self) -> dict[str, Period]:
        """Its terms."""
        return {period.name: period for period in Period.objects.filter(school=self.school)}

    @cached_property
    def courses(self) -> dict[str, Course]:
        """Its courses, by code."""
        return {course.code: course for course in Course.objects.filter(school=self.school)}

    @cached_property
    def classes(self) -> dict[str, SchoolClass]:
        """Its classes."""
        return {group.name: group for group in SchoolClass.objects.filter(school=self.school)}

    @cached_property
    def people(self) -> dict[str, tuple[UUID, str]]:
        """Everybody in it: id and full name by username."""
        people = User.objects.filter(school=self.school).only("username", "first_name", "last_name")
        return {person.username: (person.pk, person.full_name) for person in people}


@dataclasses.dataclass
class SheetHere:
    """The sheet that lines of the file belong to; `sheet` is None while it is only to be opened."""

    school: SchoolHere
    period: Period
    course: Course
    school_class: SchoolClass
    sheet: MarkSheet | None

    def open(self) -> MarkSheet:
        """Return the sheet, made now if there was none."""
        if self.sheet is None:
            self.sheet, _ = MarkSheet.objects.get_or_create(
                school=self.school.school,
                period=self.period,
                course=self.course,
                school_class=self.school_class,
            )
        return self.sheet

    @cached_property
    def columns(self) -> dict[str, UUID]:
        """The columns of the opened sheet by title. Read when first asked for: after those of the newest copy were added."""
        return dict(self.open().columns.values_list("title", "id"))

    def __str__(self) -> str:
        return f"{self.course.code}, {self.school_class.name}, {self.period.name} ({self.school.school.name})"


class Directory:
    """Finds what lines name, each thing once."""

    def __init__(self) -> None:
        self._schools: dict[str, SchoolHere] = {}
        self.sheets: dict[tuple[str, str, str, str], SheetHere] = {}

    def find_sheet(self, copy: FileCopy) -> SheetHere:
        """Return the sheet a line belongs to. Raises `Refused` for anything we do not have."""
        names = (copy.school, copy.period, copy.course, copy.school_class)
        if names not in self.sheets:
            self.sheets[names] = self._look_up(copy)
        return self.sheets[names]

    def check_students(self, copy: FileCopy) -> None:
        """Raise `Refused` when somebody in the copy is not in the school."""
        people = self.find_sheet(copy).school.people
        if unknown := copy.cells.keys() - people.keys():
            raise Refused(
                f"There is no {min(unknown)} in {copy.school}.",
                "Make the account first (inactive, if the person has left), or take the row out.",
            )

    def as_row(self, copy: FileCopy) -> dict[str, Any]:
        """Return the copy as a row of our table, as `import_copies.sql` takes it."""
        here = self.find_sheet(copy)
        sheet, people = here.open(), here.school.people
        columns = {
            column.title: str(here.columns.get(column.title) or derive_column_id(sheet.pk, column.title))
            for column in copy.columns
        }
        layout = {
            "columns": [_describe_column(column, columns[column.title]) for column in copy.columns],
            "categories": [
                {"name": category.name, "weight": plain(category.weight)} for category in copy.categories
            ],
            "students": [{"id": str(people[name][0]), "name": people[name][1]} for name in copy.cells],
        }
        cells = {
            str(people[name][0]): {columns[title]: cell for title, cell in row.items()}
            for name, row in copy.cells.items()
        }
        author = people.get(copy.created_by)
        return {
            "id": str(derive_copy_id(sheet.school_id, copy.id)),
            "school_id": str(sheet.school_id),
            "sheet_id": str(sheet.pk),
            "action": copy.action,
            "created_at": copy.created_at.isoformat(),
            "created_by_id": str(author[0]) if author else None,
            "created_by_name": (author[1] if author else copy.created_by_name or copy.created_by),
            "layout": json.dumps(layout),
            "cells": json.dumps(cells),
        }

    def _look_up(self, copy: FileCopy) -> SheetHere:
        school = self._find_school(copy.school)
        period = school.periods.get(copy.period)
        course = school.courses.get(copy.course)
        group = school.classes.get(copy.school_class)
        for found, what, name in (
            (period, "term", copy.period),
            (course, "course with the code", copy.course),
            (group, "class", copy.school_class),
        ):
            if found is None:
                raise Refused(f"There is no {what} {name} in {copy.school}.", "Create it first.")
        assert period is not None
        assert course is not None
        assert group is not None
        sheet = MarkSheet.objects.filter(
            school=school.school, period=period, course=course, school_class=group
        ).first()
        if sheet and MarkSnapshot.objects.filter(sheet=sheet, batch_id__isnull=False).exists():
            raise Refused(
                "This sheet has been changed here since the cut-over began.",
                "Its older copies had to come before; take its lines out.",
            )
        return SheetHere(school, period, course, group, sheet)

    def _find_school(self, name: str) -> SchoolHere:
        if name not in self._schools:
            school = School.objects.filter(name=name).first()
            if school is None:
                raise Refused(f"There is no school {name}.", "Create it first, or correct its name.")
            self._schools[name] = SchoolHere(school)
        return self._schools[name]


def _describe_column(column: FileColumn, column_id: str) -> dict[str, str]:
    described = {"id": column_id, "title": column.title, "max_points": plain(column.max_points)}
    return {**described, "category": column.category} if column.category else described


def derive_copy_id(school_id: UUID, text: str) -> UUID:
    """Return the id of a copy that the old system called `text`: the same line is the same copy, however often it is imported."""
    return uuid5(NAMESPACE, f"{school_id}|{text}")


def derive_column_id(sheet_id: UUID, title: str) -> UUID:
    """Return the id of a column that the sheet no longer has."""
    return uuid5(NAMESPACE, f"{sheet_id}|{title}")
