"""The factories make valid rows, and the people are who they say."""

import pytest

from exams.models import Attempt
from gradebook.models import User
from tests import factories
from tests.people import World

pytestmark = pytest.mark.django_db


def test_attempt_factory_makes_everything_it_hangs_on() -> None:
    attempt = factories.attempt()

    found = Attempt.objects.get(pk=attempt.pk)
    assert found.revision.max_points == 7
    assert found.exam.school == found.student.school == found.exam.course.school == found.exam.period.school
    assert [entry["kind"] for entry in found.revision.paper or []] == list(factories.ALL_KINDS)
    assert found.exam.targets.get().school_class.enrolments.get().student == found.student


def test_people_belong_to_their_schools(
    world: World,
    student: User,
    other_student: User,
    teacher: User,
    other_teacher: User,
    other_school_teacher: User,
    admin: User,
) -> None:
    schools = [
        p.school for p in (student, other_student, teacher, other_teacher, other_school_teacher, admin)
    ]

    assert schools == [world.school] * 4 + [world.other_school, None]
    assert student.check_password(factories.PASSWORD)
