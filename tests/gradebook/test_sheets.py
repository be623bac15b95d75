"""Mark sheets come with teaching assignments; assignments stay inside one school."""

import pytest

from gradebook.errors import AssignmentRefused
from gradebook.models import MarkSheet, School, TeachingAssignment, User
from gradebook.policies import may_edit_sheet
from gradebook.services.sheets import assign_teacher
from tests import factories
from tests.people import World

pytestmark = pytest.mark.django_db


def test_assignment_opens_the_sheet_once_for_all_its_teachers(world: World) -> None:
    course = factories.course(world.school)
    one, two = factories.teacher(world.school), factories.teacher(world.school)
    for teacher in (one, two, one):
        assign_teacher(teacher=teacher, school_class=world.school_class, course=course, period=world.period)
    sheet = MarkSheet.objects.get(course=course)
    assert (sheet.school, sheet.school_class, sheet.period) == (
        world.school,
        world.school_class,
        world.period,
    )
    assert may_edit_sheet(one, sheet.pk)
    assert may_edit_sheet(two, sheet.pk)
    assert TeachingAssignment.objects.filter(course=course).count() == 2


@pytest.mark.parametrize("part", ["teacher", "school_class", "course", "period"])
def test_assignment_across_schools_is_refused(world: World, part: str) -> None:
    def school_of(name: str) -> School:
        return world.other_school if name == part else world.school

    with pytest.raises(AssignmentRefused):
        assign_teacher(
            teacher=factories.teacher(school_of("teacher")),
            school_class=factories.school_class(school_of("school_class")),
            course=factories.course(school_of("course")),
            period=factories.period(school_of("period")),
        )
    assert not TeachingAssignment.objects.exists()


def test_student_is_not_assigned_to_teach(world: World, student: User) -> None:
    with pytest.raises(AssignmentRefused, match="is not a teacher"):
        assign_teacher(
            teacher=student, school_class=world.school_class, course=world.course, period=world.period
        )
