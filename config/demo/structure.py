"""The demo's people and school structure: schools, terms, classes, who learns and who teaches where."""

import dataclasses
import datetime as dt
import itertools
import random
from collections.abc import Iterator, Sequence

from config.demo.names import draw_names
from config.demo.plan import SHARE_OF_FIRST_SCHOOL, STUDENTS_PER_CLASS, CoursePlan, SchoolPlan
from gradebook.models import Course, Enrolment, MarkSheet, Period, Role, School, SchoolClass, User
from gradebook.services.sheets import assign_teacher

TEACHERS_PER_COURSE = 2  # two people share each sheet, so that a conflict can be seen


@dataclasses.dataclass(frozen=True, slots=True)
class DemoClass:
    """A class with its students, and the sheet and teachers of each of its courses."""

    school_class: SchoolClass
    students: list[User]
    sheets: dict[str, MarkSheet]
    teachers: dict[str, list[User]]


@dataclasses.dataclass(frozen=True, slots=True)
class DemoSchool:
    """A school as it was made from its plan."""

    plan: SchoolPlan
    school: School
    period: Period
    courses: dict[str, Course]
    classes: list[DemoClass]


class People:
    """Makes people with numbered usernames (`student1`, `teacher1`), all with the one known password."""

    def __init__(self, *, dice: random.Random, password_hash: str) -> None:
        self._names = draw_names(dice)
        self._numbers = {role: itertools.count(1) for role in Role}
        self._password_hash = password_hash

    def create(self, role: Role, school: School, count: int) -> list[User]:
        """Create `count` people of one role in one school."""
        return User.objects.bulk_create(self._make(role, school) for _ in range(count))

    def create_admin(self) -> User:
        """Create the administrator of the whole system."""
        return User.objects.create(
            username="admin",
            first_name="Ada",
            last_name="Admin",
            password=self._password_hash,
            role=Role.ADMIN,
            is_staff=True,
            is_superuser=True,
        )

    def _make(self, role: Role, school: School) -> User:
        given, family = next(self._names)
        username = f"{role.value}{next(self._numbers[role])}"
        return User(
            username=username,
            first_name=given,
            last_name=family,
            email=f"{username}@example.org",
            password=self._password_hash,
            role=role,
            school=school,
        )


def share_students(students: int, plans: Sequence[SchoolPlan]) -> Iterator[tuple[SchoolPlan, int]]:
    """Say how many of the students go to which school; every school gets at least one."""
    first = min(students - 1, round(students * SHARE_OF_FIRST_SCHOOL)) if students > 1 else students
    yield plans[0], first
    if students - first:
        yield plans[1], students - first


def create_school(plan: SchoolPlan, *, students: int, people: People, today: dt.date) -> DemoSchool:
    """Create a school of this many students, with its current term, courses, teachers and mark sheets."""
    school = School.objects.create(name=plan.name, time_zone=plan.time_zone)
    period = Period.objects.create(
        school=school,
        name=f"Term of {today:%B %Y}",
        starts_on=today - dt.timedelta(days=60),
        ends_on=today + dt.timedelta(days=60),
    )
    courses = {
        course.code: Course.objects.create(school=school, code=course.code, title=course.title)
        for course in plan.courses
    }
    teachers = {
        course.code: people.create(Role.TEACHER, school, TEACHERS_PER_COURSE) for course in plan.courses
    }
    learners = people.create(Role.STUDENT, school, students)
    classes = [
        _create_class(name, group, plan.courses, courses, teachers, period)
        for name, group in zip(plan.class_names, _in_classes(learners, plan), strict=False)
    ]
    return DemoSchool(plan=plan, school=school, period=period, courses=courses, classes=classes)


def _in_classes(learners: list[User], plan: SchoolPlan) -> Iterator[list[User]]:
    """Split the students into classes of about the usual size; the last class takes whoever is left over."""
    count = min(len(plan.class_names), max(1, round(len(learners) / STUDENTS_PER_CLASS)))
    for number in range(count):
        yield learners[number::count]


def _create_class(
    name: str,
    students: list[User],
    plans: Sequence[CoursePlan],
    courses: dict[str, Course],
    teachers: dict[str, list[User]],
    period: Period,
) -> DemoClass:
    school_class = SchoolClass.objects.create(school=period.school, name=name)
    Enrolment.objects.bulk_create(
        Enrolment(student=student, school_class=school_class, starts_on=period.starts_on)
        for student in students
    )
    for plan in plans:
        for teacher in teachers[plan.code]:
            assign_teacher(
                teacher=teacher, school_class=school_class, course=courses[plan.code], period=period
            )
    sheets = {sheet.course.code: sheet for sheet in school_class.marksheet_set.select_related("course")}
    return DemoClass(school_class=school_class, students=students, sheets=sheets, teachers=teachers)
