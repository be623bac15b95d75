"""Who may read and who may write a mark sheet."""

import pytest

from gradebook import policies
from gradebook.models import MarkSheet, TeachingAssignment, User
from gradebook.queries import list_my_sheets
from tests import factories
from tests.people import World

pytestmark = pytest.mark.django_db

PEOPLE = {
    # who: (may view, may edit)
    "teacher": (True, True),
    "admin": (True, False),
    "student": (False, False),
    "other_student": (False, False),
    "other_teacher": (False, False),
    "other_school_teacher": (False, False),
}


@pytest.mark.parametrize("who", PEOPLE)
def test_sheet_is_open_to_its_teachers_and_readable_for_administrators(
    request: pytest.FixtureRequest, world: World, who: str
) -> None:
    person = request.getfixturevalue(who)
    rights = policies.may_view_sheet(person, world.sheet.pk), policies.may_edit_sheet(person, world.sheet.pk)
    assert rights == PEOPLE[who]
    name = str(world.sheet) if PEOPLE[who][0] else None
    assert policies.find_viewable_name(person, world.sheet.pk) == name
    assert (world.sheet in list_my_sheets(person)) is PEOPLE[who][0]


def test_school_administrator_reads_the_sheets_of_their_own_school_only(world: World) -> None:
    elsewhere = factories.sheet(factories.school_class(world.other_school))
    person = factories.admin(school=world.school)
    assert list(policies.sheets_viewable_by(person)) == [world.sheet]
    assert not policies.may_view_sheet(person, elsewhere.pk)


@pytest.mark.parametrize("part", ["school_class", "course", "period"])
def test_assignment_opens_exactly_its_class_course_and_period(world: World, part: str) -> None:
    person = factories.teacher(world.school)
    factories.assignment(
        person,
        factories.school_class(world.school) if part == "school_class" else world.school_class,
        factories.course(world.school) if part == "course" else world.course,
        factories.period(world.school) if part == "period" else world.period,
    )
    assert not policies.may_view_sheet(person, world.sheet.pk)


def test_teacher_of_another_school_sees_nothing_even_when_assigned_by_mistake(world: World) -> None:
    person = factories.teacher(world.other_school)
    factories.assignment(person, world.school_class, world.course, world.period)
    assert not policies.may_view_sheet(person, world.sheet.pk)


def test_rights_end_with_the_assignment_and_with_the_account(world: World, teacher: User) -> None:
    User.objects.filter(pk=teacher.pk).update(is_active=False)
    assert not policies.may_view_sheet(User.objects.get(pk=teacher.pk), world.sheet.pk)
    TeachingAssignment.objects.all().delete()
    assert not policies.may_edit_sheet(teacher, world.sheet.pk)
    assert list(MarkSheet.objects.all()) == [world.sheet]
