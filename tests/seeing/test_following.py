"""Following one submission: its id joins what the gate, the worker and the effects say about it."""

from uuid import uuid4

import pytest
from django.db import transaction

from exams.events import GradingFailed
from exams.gate.session import Session
from exams.jobs import GRADE
from exams.models import Attempt, Exam
from exams.services.facts import WORKER, describe, event_of
from outbox.correlation import correlated
from outbox.effects import find_effect
from outbox.effects.receipts import list_hints
from outbox.effects.running import run_due_effects
from outbox.models import Event, Lane
from outbox.queue.jobs import NewJob, enqueue
from tests import factories
from tests.exams.gate.sessions import MakeHandIn, make_handin, session
from tests.exams.grading_room import grade_everything, post_everything
from tests.people import World
from tests.relay.effects import Make, cause, make_effect, relay_all
from tests.seeing.written import Lines, lines

__all__ = ["lines", "make_effect", "make_handin", "session"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def exam(world: World) -> Exam:
    """One question that a machine can judge, and a column that results are posted to."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period)
    factories.published_revision(exam, factories.questions(1, ("true_false",)))
    column = factories.column(world.sheet, source_id=exam.pk, title="Exam")
    factories.target(exam, world.school_class, column)
    return exam


def test_events_of_a_submission_are_joined_by_its_id_and_lead_to_the_mark(
    session: Session, make_handin: MakeHandIn, attempt: Attempt
) -> None:
    handin = make_handin(attempt)
    session.accept([handin])
    grade_everything()
    post_everything()

    about = Event.objects.filter(subject=f"attempt:{attempt.pk}").order_by("subject_version")
    _, accepted, graded = about
    assert list(about.values_list("kind", "correlation_id")) == [
        ("AttemptStarted", None),
        ("SubmissionAccepted", handin.submission_id),
        ("SubmissionGraded", handin.submission_id),
    ]
    assert graded.cause_id == accepted.event_id
    assert [each.kind for each in Event.objects.filter(cause_id=graded.event_id)] == ["MarkChanged"]


def test_event_of_a_request_is_joined_to_the_request_and_not_to_the_submission(attempt: Attempt) -> None:
    request_id, submission_id = uuid4(), uuid4()
    fact = GradingFailed(**describe(attempt), submission_id=submission_id, reason="x")
    with correlated(request_id):
        inside = event_of(attempt, fact, by=WORKER)
    outside = event_of(attempt, fact, by=WORKER)
    assert (inside.correlation_id, outside.correlation_id) == (request_id, submission_id)


def test_failed_try_of_a_job_is_in_the_log_under_its_subject(lines: Lines) -> None:
    subject = uuid4()
    with transaction.atomic():
        enqueue(
            [NewJob(kind=GRADE, subject_id=subject, group_id=uuid4(), tenant_id=uuid4(), lane=Lane.FRESH)]
        )
    lines.take()
    grade_everything()
    (line,) = [line for line in lines.take() if line["logger"] == "outbox.queue.settle"]
    assert (line["message"], line["correlation_id"]) == (f"Try 1 of grade {subject}: KeyError", str(subject))


def test_failed_effect_is_in_the_log_under_what_its_event_was_joined_to(
    make_effect: Make, lines: Lines
) -> None:
    make_effect().errors = [ValueError("hush"), ValueError("hush")]
    submission_id = uuid4()
    with correlated(submission_id):
        (joined,) = cause()
    (alone,) = cause()
    relay_all()
    lines.take()
    effect = find_effect("tell")
    assert effect is not None
    run_due_effects([effect])
    said = {line["correlation_id"]: line["message"] for line in lines.take()}
    assert said == {
        str(submission_id): f"tell of {joined}: ValueError",
        str(alone): f"tell of {alone}: ValueError",
    }


def test_hint_for_the_relay_says_what_its_event_was_joined_to() -> None:
    submission_id = uuid4()
    with correlated(submission_id):
        cause()
    cause()
    assert [hint.correlation_id for hint in list_hints([1, 2])] == [submission_id, None]
