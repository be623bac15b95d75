"""A column that is linked to its exam after the results were found: its figures, and the way to the exam's, need no rebuild."""

import pytest

from exams.models import Exam, ExamRevision
from exams.services.attempts import start_attempt
from exams.services.targets import open_columns
from gradebook.models import User
from outbox.consumers.batches import run_batch
from outbox.consumers.beside import rebuild_beside
from outbox.log.sequencer import sequence_events
from outbox.stopping import Stop
from projections.analytics.projector import Analytics
from projections.analytics.queries import get_exam_figures, list_column_figures
from tests import factories
from tests.exams.grading_room import grade_everything, post_everything
from tests.people import World
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)


def catch_up() -> None:
    sequence_events()
    while run_batch(Analytics()).more:
        pass


def sit(exam: Exam, student: User, right: int) -> None:
    attempt = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
    answers = factories.right_answers(ExamRevision.objects.get(pk=attempt.revision_id))
    hand_in(attempt, dict(list(answers.items())[:right]))
    grade_everything()


def test_figures_of_a_column_linked_late_are_those_of_a_rebuild(
    world: World, student: User, admin: User
) -> None:
    exam = factories.exam(school=world.school, course=world.course, period=world.period)
    factories.published_revision(exam, factories.questions(4, ("true_false",)))
    factories.target(exam, world.school_class)
    classmate = factories.student(world.school)
    factories.enrolment(classmate, world.school_class)
    sit(exam, student, right=1)
    sit(exam, classmate, right=3)
    post_everything()
    catch_up()
    assert list_column_figures(sheet_id=world.sheet.pk) == []

    open_columns(exam=exam, by=admin)
    catch_up()

    (column,) = list_column_figures(sheet_id=world.sheet.pk)
    of_exam = get_exam_figures(
        exam_id=exam.pk, class_ids=[world.school_class.pk], group_id=world.school_class.pk
    )
    assert column.exam_id == exam.pk
    assert of_exam.distribution is not None
    assert column.distribution.summary == of_exam.distribution.summary
    assert [bar.number for bar in column.distribution.bins if bar.number] == [1, 1]
    with Stop() as stop:
        comparison = rebuild_beside(Analytics(), stop, report=lambda *_: None)
    assert comparison is not None
    assert comparison.total == 0
