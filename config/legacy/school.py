"""The school the drawn copies are about: years, classes, people, sheets and their columns."""

import dataclasses
import datetime as dt
import random
from collections.abc import Iterator
from decimal import Decimal
from itertools import count

from config.demo.names import draw_names
from gradebook.models import (
    Column,
    Course,
    Enrolment,
    MarkSheet,
    Period,
    Role,
    School,
    SchoolClass,
    User,
)
from gradebook.services.columns import add_column
from gradebook.services.sheets import assign_teacher

SCHOOL = "Old Town School"
STUDENTS, COLUMNS = 30, 20
TITLES = ("Homework", "Quiz", "Lab report", "Project", "Oral")


@dataclasses.dataclass(frozen=True, slots=True)
class LegacyClass:
    """A class in one year: who is in it, who teaches it, and its sheet."""

    period: Period
    sheet: MarkSheet
    columns: list[Column]
    students: list[User]
    teachers: list[User]


class LegacySchool:
    """Makes the school once, and its classes year by year."""

    def __init__(self, *, dice: random.Random, password_hash: str) -> None:
        self.school = School.objects.create(name=SCHOOL, time_zone="Europe/Helsinki")
        self._course = Course.objects.create(school=self.school, code="MAT", title="Mathematics")
        self._names = draw_names(dice)
        self._numbers = count(1)
        self._password_hash = password_hash
        self._teachers = self._people(Role.TEACHER, 2)

    def create_year(self, starts_on: dt.date, *, classes: int) -> Iterator[LegacyClass]:
        """Create a school year and its classes, each with students of its own."""
        period = Period.objects.create(
            school=self.school,
            name=f"{starts_on.year}/{starts_on.year + 1}",
            starts_on=starts_on,
            ends_on=starts_on + dt.timedelta(days=300),
        )
        for number in range(1, classes + 1):
            yield self._create_class(period, f"{period.name} {number}")

    def _create_class(self, period: Period, name: str) -> LegacyClass:
        group = SchoolClass.objects.create(school=self.school, name=name)
        students = self._people(Role.STUDENT, STUDENTS)
        Enrolment.objects.bulk_create(
            Enrolment(student=student, school_class=group, starts_on=period.starts_on, ends_on=period.ends_on)
            for student in students
        )
        for teacher in self._teachers:
            assign_teacher(teacher=teacher, school_class=group, course=self._course, period=period)
        sheet = MarkSheet.objects.get(school_class=group, course=self._course, period=period)
        columns = [
            add_column(sheet=sheet, title=title, max_points=Decimal(20), by=self._teachers[0])
            for title in _titles()
        ]
        return LegacyClass(period, sheet, columns, students, self._teachers)

    def _people(self, role: Role, number: int) -> list[User]:
        return User.objects.bulk_create(self._make(role) for _ in range(number))

    def _make(self, role: Role) -> User:
        given, family = next(self._names)
        return User(
            username=f"old-{role.value}{next(self._numbers)}",
            first_name=given,
            last_name=family,
            password=self._password_hash,
            role=role,
            school=self.school,
        )


def _titles() -> list[str]:
    return [f"{TITLES[number % len(TITLES)]} {number // len(TITLES) + 1}" for number in range(COLUMNS)]
