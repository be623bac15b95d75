"""People, school structure and mark sheets."""

import datetime as dt
import itertools
from functools import cache
from typing import Any

from django.contrib.auth.hashers import make_password

from gradebook.models import (
    Column,
    Course,
    Enrolment,
    MarkSheet,
    Period,
    Role,
    School,
    SchoolClass,
    TeachingAssignment,
    User,
)

PASSWORD = "correct horse battery staple"
_numbers = itertools.count(1)


def school(**fields: Any) -> School:
    """A school in UTC."""
    return School.objects.create(**{"name": f"School {next(_numbers)}"} | fields)


def student(school: School | None = None, **fields: Any) -> User:
    """A student who can sign in with `PASSWORD`."""
    return _person(Role.STUDENT, school or _school(), fields)


def teacher(school: School | None = None, **fields: Any) -> User:
    """A teacher who can sign in with `PASSWORD`."""
    return _person(Role.TEACHER, school or _school(), fields)


def admin(**fields: Any) -> User:
    """An administrator of the whole system, who belongs to no school."""
    return _person(Role.ADMIN, None, {"is_staff": True, "is_superuser": True} | fields)


def _person(role: Role, of: School | None, fields: dict[str, Any]) -> User:
    number = next(_numbers)
    defaults = {
        "username": f"{role.value}-{number}",
        "first_name": role.label,
        "last_name": f"No. {number}",
        "password": _hashed(PASSWORD),
    }
    return User.objects.create(**defaults | {"role": role, "school": of} | fields)


@cache
def _hashed(password: str) -> str:
    """Hashing is slow on purpose; once a run is enough."""
    return make_password(password)


def course(school: School | None = None, **fields: Any) -> Course:
    """A course."""
    number = next(_numbers)
    defaults = {"school": school or _school(), "code": f"C{number}", "title": f"Course {number}"}
    return Course.objects.create(**defaults | fields)


def school_class(school: School | None = None, **fields: Any) -> SchoolClass:
    """A class without students."""
    return SchoolClass.objects.create(
        **{"school": school or _school(), "name": f"Class {next(_numbers)}"} | fields
    )


def period(school: School | None = None, **fields: Any) -> Period:
    """A period around today."""
    today = dt.datetime.now(tz=dt.UTC).date()
    defaults = {
        "school": school or _school(),
        "name": f"Period {next(_numbers)}",
        "starts_on": today - dt.timedelta(days=60),
        "ends_on": today + dt.timedelta(days=60),
    }
    return Period.objects.create(**defaults | fields)


def enrolment(student: User, school_class: SchoolClass, **fields: Any) -> Enrolment:
    """The student is in the class, since long ago and open-ended."""
    since = dt.datetime.now(tz=dt.UTC).date() - dt.timedelta(days=60)
    return Enrolment.objects.create(
        **{"student": student, "school_class": school_class, "starts_on": since} | fields
    )


def assignment(
    teacher: User, school_class: SchoolClass, course: Course, period: Period
) -> TeachingAssignment:
    """The teacher may enter marks for this class, course and period."""
    return TeachingAssignment.objects.create(
        teacher=teacher, school_class=school_class, course=course, period=period
    )


def sheet(
    school_class: SchoolClass | None = None,
    course: Course | None = None,
    period: Period | None = None,
) -> MarkSheet:
    """A mark sheet without columns; all of it in one school."""
    of = next((part.school for part in (school_class, course, period) if part), None) or _school()
    return MarkSheet.objects.create(
        school=of,
        school_class=school_class or _school_class(of),
        course=course or _course(of),
        period=period or _period(of),
    )


def column(sheet: MarkSheet | None = None, **fields: Any) -> Column:
    """A column for marks out of 10, typed by hand unless `source_id` names an exam."""
    number = next(_numbers)
    defaults = {
        "sheet": sheet or _sheet(),
        "title": f"Column {number}",
        "max_points": 10,
        "position": number,
        "source": "exam" if fields.get("source_id") else "manual",
    }
    return Column.objects.create(**defaults | fields)


# A parameter named after its row hides the factory of the same name.
_school, _school_class, _course, _period, _sheet = school, school_class, course, period, sheet
