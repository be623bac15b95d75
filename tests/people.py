"""The fixed people of the tests, so that every test can ask: and what may the stranger see?

One school with one class; the teacher teaches it, the student is in it. Import what you need, or let `conftest.py` share it.
"""

import dataclasses

import pytest

from gradebook.models import Course, MarkSheet, Period, School, SchoolClass, User
from tests import factories


@dataclasses.dataclass(frozen=True, slots=True)
class World:
    """The school everybody of `people` is in, and the one `other_school_teacher` is in."""

    school: School
    school_class: SchoolClass
    course: Course
    period: Period
    sheet: MarkSheet
    other_school: School


@pytest.fixture
def world(db: None) -> World:
    """One school with a class, a course, a period and their mark sheet; and another school."""
    school = factories.school(name="Hill School", time_zone="Europe/Helsinki")
    school_class = factories.school_class(school)
    course = factories.course(school)
    period = factories.period(school)
    sheet = factories.sheet(school_class, course, period)
    return World(school, school_class, course, period, sheet, factories.school(name="Lake School"))


@pytest.fixture
def student(world: World) -> User:
    """In the class."""
    person = factories.student(world.school, username="student")
    factories.enrolment(person, world.school_class)
    return person


@pytest.fixture
def other_student(world: World) -> User:
    """In the same class."""
    person = factories.student(world.school, username="other_student")
    factories.enrolment(person, world.school_class)
    return person


@pytest.fixture
def teacher(world: World) -> User:
    """Teaches the class in the course and period."""
    person = factories.teacher(world.school, username="teacher")
    factories.assignment(person, world.school_class, world.course, world.period)
    return person


@pytest.fixture
def other_teacher(world: World) -> User:
    """Teaches at the same school, but another class."""
    person = factories.teacher(world.school, username="other_teacher")
    factories.assignment(person, factories.school_class(world.school), world.course, world.period)
    return person


@pytest.fixture
def other_school_teacher(world: World) -> User:
    """Teaches at the other school."""
    person = factories.teacher(world.other_school, username="other_school_teacher")
    factories.assignment(
        person,
        factories.school_class(world.other_school),
        factories.course(world.other_school),
        factories.period(world.other_school),
    )
    return person


@pytest.fixture
def admin(world: World) -> User:
    """Operates the system."""
    return factories.admin(username="admin")


@pytest.fixture
def nobody() -> None:
    """Somebody who has not signed in."""
