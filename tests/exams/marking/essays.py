"""An exam with two essays beside a question for the machine, and what students hand in for it."""

from decimal import Decimal
from typing import Any

from django.db import transaction

from exams.jobs import regrading_job
from exams.models import Attempt, Exam, ExamRevision, Submission
from exams.queries.marking import get_desk
from exams.services.attempts import start_attempt
from exams.services.marking import AnswerKey, MarkOutcome, PointsChange, mark_answers
from gradebook.models import User
from outbox.queue.jobs import enqueue
from tests import factories
from tests.exams.grading_room import grade_everything
from tests.factories.papers import a_question
from tests.people import World
from tests.sitting import hand_in

STORM = "It was a dark and stormy night."


def essay_exam(world: World, **fields: Any) -> Exam:
    """True or false for 1 point, essays for 4 and for 2.5; given to the class, posted to a column of 10 points."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period, **fields)
    papers = (
        a_question("true_false"),
        a_question("essay", points=Decimal(4), text="What happened?"),
        a_question("essay", points=Decimal("2.5"), text="And why?"),
    )
    factories.published_revision(exam, papers)
    column = factories.column(world.sheet, source_id=exam.pk, max_points="7.5", title=exam.title)
    factories.target(exam, world.school_class, column)
    return exam


def essays_of(exam: Exam) -> tuple[str, str]:
    """Return the ids of its two essays."""
    paper = exam.revisions.get().paper or []
    first, second = (entry["id"] for entry in paper if entry["kind"] == "essay")
    return first, second


def sit(
    exam: Exam, student: User, first: Any = STORM, second: Any = "Because of the wind.", **fields: Any
) -> Submission:
    """Hand in a right answer for the machine and these essays, and let it be graded."""
    attempt = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
    paper = ExamRevision.objects.get(pk=attempt.revision_id).paper or []
    answers = dict(zip((entry["id"] for entry in paper), (True, first, second), strict=True))
    submission = hand_in(attempt, answers, **fields)
    grade_everything()
    return submission


def change(submission: Submission, question_id: str, points: str | None, version: int = 1) -> PointsChange:
    """Return the wish for these points."""
    return PointsChange(
        AnswerKey(submission.pk, question_id), None if points is None else Decimal(points), version
    )


def mark(
    submission: Submission, question_id: str, points: str | None, version: int = 1, *, by: User
) -> MarkOutcome:
    """Give points to one answer."""
    return mark_answers(changes=[change(submission, question_id, points, version)], by=by)


def stands(submission: Submission) -> tuple[str, str, Decimal, int]:
    """Return the attempt's state, the result's state, score and version."""
    result = Submission.objects.select_related("result").get(pk=submission.pk).result
    assert result.score is not None
    attempt = Attempt.objects.get(pk=submission.attempt_id)
    return attempt.state, result.state, result.score, result.version


def points_given(exam: Exam, question_id: str, by: User) -> dict[str, Decimal | None]:
    """Return the points a teacher sees, by student."""
    desk = get_desk(exam_id=exam.pk, by=by, question_id=question_id)
    return {answer.student.username: answer.points for answer in desk.answers}


def enrol(world: World) -> User:
    """Return one more student of the class."""
    student = factories.student(world.school)
    factories.enrolment(student, world.school_class)
    return student


def regrade(submission: Submission) -> None:
    """Let a worker grade a submission again."""
    with transaction.atomic():
        enqueue([regrading_job(submission)])
    grade_everything()
