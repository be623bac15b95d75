"""Grading again: the same leaves no trace, something else says what it was, and what failed can be graded once its cause is gone."""

from collections import Counter
from decimal import Decimal

import pytest
from django.db import transaction

from exams.jobs import regrading_job
from exams.models import Attempt, AttemptState, Result, Submission
from gradebook.models import User
from outbox.models import Event
from outbox.queue.jobs import enqueue
from outbox.queue.settle import Settled
from tests.exams.grading_room import grade_everything
from tests.exams.worker.by_machine import EventsOf, exam, right_answers, switch_the_student_off
from tests.sitting import hand_in

__all__ = ["exam"]
pytestmark = pytest.mark.django_db(transaction=True)


def regrade(submission: Submission) -> None:
    with transaction.atomic():
        enqueue([regrading_job(submission)])
    assert grade_everything() == Counter({Settled.FINISHED: 1})


def test_a_regrade_that_finds_the_same_leaves_no_trace(attempt: Attempt) -> None:
    submission = hand_in(attempt, right_answers(attempt))
    grade_everything()
    before = (Result.objects.values().get(), Attempt.objects.values().get(), Event.objects.count())

    regrade(submission)

    assert (Result.objects.values().get(), Attempt.objects.values().get(), Event.objects.count()) == before


def test_a_regrade_that_finds_something_else_says_what_it_was(attempt: Attempt, events_of: EventsOf) -> None:
    """An older grader had found 3 points."""
    submission = hand_in(attempt, right_answers(attempt))
    grade_everything()
    Result.objects.update(score=3)

    regrade(submission)

    result = Result.objects.get()
    assert (result.score, result.version) == (Decimal(4), 2)
    kind, payload = events_of(attempt.pk)[-1]
    assert (kind, payload["score"], payload["old_score"], payload["result_version"]) == (
        "SubmissionGraded",
        "4",
        "3",
        2,
    )


def test_a_regrade_that_fails_leaves_the_result_where_it_was(attempt: Attempt, events_of: EventsOf) -> None:
    submission = hand_in(attempt, right_answers(attempt))
    grade_everything()
    before = Result.objects.values().get()
    switch_the_student_off(submission)

    regrade(submission)

    attempt.refresh_from_db()
    assert Result.objects.values().get() == before
    assert (attempt.state, attempt.failure_reason) == (AttemptState.GRADED, "")
    assert events_of(attempt.pk)[-1][0] == "GradingFailed"


def test_what_failed_can_be_graded_once_its_cause_is_gone(attempt: Attempt) -> None:
    submission = hand_in(attempt, right_answers(attempt))
    switch_the_student_off(submission)
    grade_everything()
    User.objects.update(is_active=True)

    regrade(submission)

    attempt.refresh_from_db()
    result = Result.objects.get()
    assert (attempt.state, attempt.failure_reason) == (AttemptState.GRADED, "")
    assert (result.state, result.score, result.reason, result.version) == ("graded", Decimal(4), "", 2)
