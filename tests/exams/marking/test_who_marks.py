"""Who may mark which answer: the teacher of the class the student was in, and only what was handed in last."""

import datetime as dt
from decimal import Decimal

import pytest
from uuid_utils.compat import uuid7

from exams.models import Exam, ExtensionKind, Result, Submission
from exams.services.deadlines import grant_extension
from exams.services.marking import AnswerKey, MarkOutcome, PointsChange, mark_answers
from gradebook.models import Enrolment, TeachingAssignment, User
from tests import factories
from tests.exams.marking.essays import essays_of, mark, points_given, sit
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("person", ["other_teacher", "other_school_teacher", "admin", "student"])
def test_whoever_does_not_teach_the_class_marks_nothing(
    exam: Exam, submission: Submission, person: str, request: pytest.FixtureRequest
) -> None:
    first, _ = essays_of(exam)
    before = Result.objects.values().get()

    outcome = mark(submission, first, "3", by=request.getfixturevalue(person))

    assert outcome == MarkOutcome([], [], [], missing=[AnswerKey(submission.pk, first)])
    assert Result.objects.values().get() == before


@pytest.mark.parametrize("lost", ["the assignment", "the enrolment then", "the account"])
def test_who_teaches_the_class_no_more_marks_nothing(
    exam: Exam, submission: Submission, teacher: User, lost: str
) -> None:
    if lost == "the assignment":
        TeachingAssignment.objects.filter(teacher=teacher).delete()
    elif lost == "the enrolment then":
        Enrolment.objects.update(starts_on=dt.datetime.now(tz=dt.UTC).date() + dt.timedelta(days=2))
    else:
        teacher.is_active = False
    first, _ = essays_of(exam)

    assert mark(submission, first, "3", by=teacher).missing == [AnswerKey(submission.pk, first)]


def test_a_student_who_has_changed_class_since_is_still_marked_by_the_teacher_of_then(
    exam: Exam, submission: Submission, world: World, teacher: User, student: User
) -> None:
    today = dt.datetime.now(tz=dt.UTC).date()
    Enrolment.objects.update(starts_on=today - dt.timedelta(days=9), ends_on=today + dt.timedelta(days=1))
    factories.enrolment(student, factories.school_class(world.school))
    first, _ = essays_of(exam)

    assert mark(submission, first, "3", by=teacher).saved


@pytest.mark.parametrize("which", ["machine", "unknown", "blank", "nothing handed in"])
def test_what_no_person_marks_takes_no_points(
    exam: Exam, submission: Submission, other_student: User, teacher: User, which: str
) -> None:
    first, _ = essays_of(exam)
    machine = (exam.revisions.get().paper or [])[0]["id"]
    key = {
        "machine": AnswerKey(submission.pk, machine),
        "unknown": AnswerKey(submission.pk, "constructor"),
        "blank": AnswerKey(submission.pk, first),
        "nothing handed in": AnswerKey(uuid7(), first),
    }[which]
    if which == "blank":
        key = AnswerKey(sit(exam, other_student, first=" \n").pk, first)
    before = list(Result.objects.order_by("pk").values())

    outcome = mark_answers(changes=[PointsChange(key, Decimal(1), version=1)], by=teacher)

    assert outcome == MarkOutcome([], [], [], missing=[key])
    assert list(Result.objects.order_by("pk").values()) == before


def test_points_for_an_answer_that_was_withdrawn_never_reach_the_one_handed_in_after_it(
    exam: Exam, student: User, teacher: User
) -> None:
    """The server hands in a draft, a teacher reads it, an extension reopens the attempt, the student goes on and submits."""
    first, _ = essays_of(exam)
    withdrawn = sit(exam, student, first="A draft", origin="server", decision="closed_by_server")
    grant_extension(
        exam_id=exam.pk, kind=ExtensionKind.MINUTES, amount=5, reason="A fire alarm.", by=teacher.pk
    )
    assert mark(withdrawn, first, "3", by=teacher).missing == [AnswerKey(withdrawn.pk, first)]

    submitted = sit(exam, student, first="The whole story")

    assert mark(withdrawn, first, "3", by=teacher).missing == [AnswerKey(withdrawn.pk, first)]
    assert points_given(exam, first, teacher) == {"student": None}
    assert mark(submitted, first, "4", by=teacher).saved
