"""What an attempt shows of its way from Submit to a score: its place in the queue, why it failed, and when a score is shown."""

import datetime as dt
import json
from decimal import Decimal

import pytest
from uuid_utils.compat import uuid7

from exams.jobs import GRADE
from exams.models import Attempt, Exam, Result
from outbox.models import DeadLetter, Job, JobState
from outbox.models.jobs import Cause
from tests import factories
from tests.exams.api.callers import Caller, in_helsinki, look
from tests.exams.crowd import gather
from tests.exams.plans import explain
from tests.sitting import hand_in

MINUTE = dt.timedelta(minutes=1)


def test_after_submit_an_attempt_waits_in_its_place(attempt: Attempt, caller: Caller) -> None:
    submission = hand_in(attempt, {"q1": "b"})
    ahead = factories.attempt(attempt.revision)
    hand_in(ahead)
    Job.objects.filter(subject_id=ahead.submissions.get().pk).update(run_at=submission.accepted_at - MINUTE)

    shown = look(caller, attempt)

    assert (shown["state"], shown["queue_place"], shown["draft"]) == ("submitted", 2, None)
    assert shown["submission"] == {
        "id": str(submission.pk),
        "accepted_at": in_helsinki(submission.accepted_at),
        "deadline": in_helsinki(attempt.closes_at),
        "decision": "on_time",
        "origin": "student",
        "payload_sha256": submission.payload_sha256,
    }


def test_a_claimed_job_shows_as_grading(attempt: Attempt, caller: Caller) -> None:
    hand_in(attempt)
    Job.objects.update(
        state=JobState.RUNNING, lease_id=uuid7(), leased_until=dt.datetime.now(tz=dt.UTC) + MINUTE
    )

    shown = look(caller, attempt)

    assert (shown["state"], shown["queue_place"]) == ("grading", None)


def test_a_job_that_was_given_up_shows_as_failed_with_words_for_people(
    attempt: Attempt, caller: Caller
) -> None:
    hand_in(attempt)
    job = Job.objects.get()
    DeadLetter.objects.create(
        id=uuid7(),
        job_id=job.job_id,
        tenant_id=job.tenant_id,
        group_id=job.group_id,
        kind=GRADE,
        subject_id=job.subject_id,
        cause=Cause.EXHAUSTED,
        error_detail="Traceback: secret",
        tries=3,
    )
    Job.objects.all().delete()

    shown = look(caller, attempt)

    assert shown["state"] == "failed"
    assert "Your work is safe" in shown["failure_reason"]
    assert "secret" not in json.dumps(shown)


def test_a_failed_grading_says_why(attempt: Attempt, caller: Caller) -> None:
    hand_in(attempt)
    Attempt.objects.update(state="failed", failure_reason="The student's account is not active.")

    shown = look(caller, attempt)

    assert (shown["state"], shown["failure_reason"]) == ("failed", "The student's account is not active.")


def graded(attempt: Attempt, state: str = "graded") -> None:
    submission = hand_in(attempt)
    Result.objects.create(
        submission=submission,
        school_id=attempt.school_id,
        exam_id=attempt.exam_id,
        attempt_id=attempt.pk,
        state=state,
        score=Decimal("5.333"),
        max_points=7,
        graded_at=dt.datetime.now(tz=dt.UTC),
    )
    Attempt.objects.filter(pk=attempt.pk).update(state=state)


@pytest.mark.parametrize(
    ("state", "released_in", "score"),
    [
        ("graded", None, None),
        ("graded", MINUTE, None),
        ("graded", -MINUTE, 5.333),
        ("needs_marking", -MINUTE, None),
    ],
)
def test_a_score_is_shown_once_it_is_complete_and_released(
    attempt: Attempt, caller: Caller, state: str, released_in: dt.timedelta | None, score: float | None
) -> None:
    graded(attempt, state)
    now = dt.datetime.now(tz=dt.UTC)
    Exam.objects.update(scores_released_at=None if released_in is None else now + released_in)

    shown = look(caller, attempt)

    assert (shown["state"], shown["score"], shown["max_points"]) == (state, score, 7)


def test_an_attempt_not_taken_has_neither_submission_nor_score(attempt: Attempt, caller: Caller) -> None:
    Attempt.objects.update(state="not_taken", ended_at=attempt.closes_at)

    shown = look(caller, attempt)

    assert (shown["state"], shown["submission"], shown["score"]) == ("not_taken", None, None)


def test_the_place_in_the_queue_is_counted_from_the_ready_index(attempt: Attempt) -> None:
    submission = hand_in(attempt)
    gather(attempt)
    job = Job.objects.get(subject_id=submission.pk)
    parameters = {
        "group_id": job.group_id,
        "subject_id": submission.pk,
        "kind": GRADE,
        "most": 1000,
    }
    used = explain("find_progress", parameters)
    assert "jobs_ready_idx" in used
    assert used & {"outbox_job_pkey", "one_job_per_subject_and_kind"}
    assert used & {"dead_letters_subject_idx", "dead_letters_open_idx"}
