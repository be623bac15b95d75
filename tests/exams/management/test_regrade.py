"""`manage.py regrade`: what it queues, behind fresh work and once."""

import io

import pytest
from django.core.management import CommandError, call_command
from uuid_utils.compat import uuid7

from exams.models import Attempt, Exam, Result
from gradebook.models import User
from outbox.models import Job, Lane
from tests import factories
from tests.exams.grading_room import grade_everything
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)


def regrade(*arguments: str) -> str:
    output = io.StringIO()
    call_command("regrade", *arguments, stdout=output)
    return output.getvalue().strip()


@pytest.fixture
def graded(exam: Exam, attempt: Attempt, other_student: User) -> list[Attempt]:
    """Two attempts with results, the second one failed."""
    other = factories.attempt(attempt.revision, other_student)
    hand_in(attempt)
    hand_in(other, payload_sha256="0" * 64)
    grade_everything()
    assert list(Result.objects.order_by("state").values_list("state", flat=True)) == ["failed", "graded"]
    return [attempt, other]


def test_every_graded_submission_is_queued_behind_fresh_work(exam: Exam, graded: list[Attempt]) -> None:
    assert regrade(str(exam.pk)) == "2 submissions queued to be graded again."
    jobs = Job.objects.values_list("kind", "lane", "group_id", "subject_id")
    assert set(jobs) == {
        ("regrade", Lane.BACKLOG, exam.pk, attempt.submissions.get().pk) for attempt in graded
    }


def test_only_failures_are_queued_when_asked(exam: Exam, graded: list[Attempt]) -> None:
    assert regrade(str(exam.pk), "--failed") == "1 submissions queued to be graded again."
    assert Job.objects.get().subject_id == graded[1].submissions.get().pk


def test_queuing_twice_queues_once(exam: Exam, graded: list[Attempt]) -> None:
    regrade(str(exam.pk))
    assert regrade(str(exam.pk)) == "0 submissions queued to be graded again."
    assert Job.objects.count() == 2


def test_fresh_and_withdrawn_submissions_are_left_alone(exam: Exam, attempt: Attempt, student: User) -> None:
    submission = hand_in(attempt, origin="server", decision="closed_by_server")
    grade_everything()
    type(submission).objects.filter(pk=submission.pk).update(withdrawn_at=submission.accepted_at)
    Attempt.objects.update(state="open")
    attempt.refresh_from_db()
    hand_in(attempt)

    assert regrade(str(exam.pk)) == "0 submissions queued to be graded again."


def test_an_exam_that_does_not_exist_is_named() -> None:
    missing = uuid7()
    with pytest.raises(CommandError, match=str(missing)):
        regrade(str(missing))
