"""An exam that a machine grades alone, and what it takes for that to fail."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from exams.models import Attempt, Exam, ExamRevision, Submission
from exams.paper.drafts import Kind
from gradebook.models import User
from tests import factories
from tests.people import World

EventsOf = Callable[[UUID], list[tuple[str, dict[str, Any]]]]


@pytest.fixture
def exam(world: World) -> Exam:
    """Four points, all of them for a machine to give."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period)
    kinds: tuple[Kind, ...] = ("single_choice", "true_false", "numeric", "short_text")
    factories.published_revision(exam, factories.questions(4, kinds))
    factories.target(exam, world.school_class)
    return exam


def right_answers(attempt: Attempt) -> dict[str, Any]:
    return factories.right_answers(ExamRevision.objects.get(pk=attempt.revision_id))


def switch_the_student_off(submission: Submission) -> None:
    User.objects.filter(pk=submission.student_id).update(is_active=False)
