"""Closing overdue attempts: the last draft is handed in as of the deadline, and nobody who may still be in the gate is overtaken."""

import datetime as dt
import hashlib
import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from exams.gate.committer import PATIENCE
from exams.models import Attempt, AttemptState, Draft, Submission
from exams.receipt_keys import get_key_ring
from exams.receipts import Receipt, sign_receipt, verify_receipt
from exams.services import closing
from exams.services.closing import MARGIN, Closed, close_overdue_attempts
from exams.services.drafts import save_draft
from gradebook.models import User
from outbox.models import Event, Job
from tests import factories
from tests.exams.crowd import gather
from tests.exams.plans import explain_statement

EventsOf = Callable[[UUID], list[tuple[str, dict[str, Any]]]]

STATEMENT_TIMEOUT = 5.0  # of the gate's session


def end(attempt: Attempt, ago: dt.timedelta = MARGIN + dt.timedelta(seconds=1)) -> dt.datetime:
    """Put the attempt's deadline that far into the past."""
    closes_at = dt.datetime.now(tz=dt.UTC) - ago
    Attempt.objects.filter(pk=attempt.pk).update(
        closes_at=closes_at, grace_until=closes_at, accepts_until=closes_at
    )
    return closes_at


def keep(attempt: Attempt, **answers: str) -> None:
    save_draft(attempt_id=attempt.pk, student_id=attempt.student_id, answers=answers, token=None)


def test_the_last_draft_is_handed_in_as_of_the_deadline(attempt: Attempt, events_of: EventsOf) -> None:
    keep(attempt, q1="b", q2="a")
    closes_at = end(attempt)

    assert close_overdue_attempts() == Closed(handed_in=1)

    attempt.refresh_from_db()
    assert (attempt.state, attempt.ended_at, attempt.version) == (AttemptState.SUBMITTED, closes_at, 2)
    submission = Submission.objects.values().get()
    digest = hashlib.sha256(b'{"q1":"b","q2":"a"}').hexdigest()
    event = Event.objects.get(kind="SubmissionAccepted")
    assert submission == {
        "id": submission["id"],
        "school_id": attempt.school_id,
        "exam_id": attempt.exam_id,
        "attempt_id": attempt.pk,
        "student_id": attempt.student_id,
        "revision_id": attempt.revision_id,
        "exam_revision": 1,
        "attempt_key": attempt.key,
        "answers": '{"q1":"b","q2":"a"}',
        "payload_sha256": digest,
        "accepted_at": closes_at,
        "deadline": closes_at,
        "decision": "closed_by_server",
        "decision_rule": "exam close",
        "origin": "server",
        "receipt_key_id": get_key_ring().signing_id,
        "event_id": event.event_id,
        "withdrawn_at": None,
    }
    assert events_of(attempt.pk)[1] == (
        "SubmissionAccepted",
        {
            "attempt_id": str(attempt.pk),
            "exam_id": str(attempt.exam_id),
            "student_id": str(attempt.student_id),
            "number": 1,
            "submission_id": str(submission["id"]),
            "payload_sha256": digest,
            "accepted_at": closes_at.isoformat(timespec="microseconds"),
            "deadline": closes_at.isoformat(timespec="microseconds"),
            "decision": "closed_by_server",
            "origin": "server",
        },
    )
    assert (event.actor_type, event.actor_id) == ("policy", None)
    job = Job.objects.get()
    assert (job.kind, job.subject_id, job.group_id) == ("grade", submission["id"], attempt.exam_id)
    receipt = sign_receipt(Receipt.of(Submission.objects.get()), get_key_ring())
    verify_receipt(receipt, get_key_ring().public_keys())


@pytest.mark.parametrize("saved", [False, True], ids=["nothing saved", "nothing answered"])
def test_an_attempt_without_answers_is_not_taken(attempt: Attempt, events_of: EventsOf, saved: bool) -> None:
    if saved:
        keep(attempt, q1="")
    closes_at = end(attempt)

    assert close_overdue_attempts() == Closed(not_taken=1)

    attempt.refresh_from_db()
    assert (attempt.state, attempt.ended_at) == (AttemptState.NOT_TAKEN, closes_at)
    assert [kind for kind, _ in events_of(attempt.pk)] == ["AttemptStarted", "AttemptNotTaken"]
    assert not Submission.objects.exists()
    assert not Job.objects.exists()


def test_closing_again_changes_nothing(attempt: Attempt, events_of: EventsOf) -> None:
    keep(attempt, q1="b")
    end(attempt)
    close_overdue_attempts()
    events = events_of(attempt.pk)

    assert close_overdue_attempts() == Closed()

    assert events_of(attempt.pk) == events
    assert Submission.objects.count() == Job.objects.count() == 1


def test_an_attempt_whose_hand_in_may_still_be_in_the_gate_is_left_open(attempt: Attempt) -> None:
    end(attempt, ago=MARGIN - dt.timedelta(seconds=5))

    assert close_overdue_attempts() == Closed()
    assert MARGIN.total_seconds() > PATIENCE + STATEMENT_TIMEOUT


def test_the_late_time_is_waited_out(attempt: Attempt) -> None:
    closes_at = end(attempt)
    Attempt.objects.update(accepts_until=closes_at + 2 * MARGIN)

    assert close_overdue_attempts() == Closed()


def test_an_attempt_that_somebody_holds_is_passed_over(
    transactional_db: None, attempt: Attempt, database_url: str
) -> None:
    end(attempt)
    with psycopg.connect(database_url) as holder:
        holder.execute("SELECT 1 FROM exams_attempt FOR UPDATE")
        assert close_overdue_attempts() == Closed()
    assert close_overdue_attempts() == Closed(not_taken=1)


def test_a_draft_saved_just_before_the_lock_is_in_what_is_handed_in(
    transactional_db: None, attempt: Attempt, database_url: str
) -> None:
    """The save commits after the sweep has looked for overdue attempts and before it locks this one."""
    keep(attempt, q1="old")
    end(attempt)

    def let_a_save_commit_first(
        execute: Any, statement: str, parameters: Any, many: bool, context: Any
    ) -> Any:
        if "FOR NO KEY UPDATE" in statement:
            with psycopg.connect(database_url) as saver:
                saver.execute('UPDATE exams_draft SET answers = \'{"q1":"new"}\'')
        return execute(statement, parameters, many, context)

    with connection.execute_wrapper(let_a_save_commit_first):
        close_overdue_attempts()

    assert Submission.objects.get().answers == '{"q1":"new"}'


def others(attempt: Attempt, count: int) -> list[Attempt]:
    students = [factories.student(attempt.exam.school) for _ in range(count)]
    return [factories.attempt(attempt.revision, student) for student in students]


def test_a_batch_takes_the_same_number_of_statements_whatever_its_size(
    attempt: Attempt, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (1, 3):
        for each in others(attempt, count):
            keep(each, q1="b")
            end(each)
        for each in others(attempt, count):
            end(each)
        with django_assert_num_queries(11):
            assert close_overdue_attempts() == Closed(handed_in=count, not_taken=count)


def test_everything_overdue_is_closed_a_batch_at_a_time(attempt: Attempt) -> None:
    """All of one exam end at the same instant, as they do."""
    for each in others(attempt, 7):
        end(each)
    at_one_instant = dt.datetime.now(tz=dt.UTC) - 2 * MARGIN
    Attempt.objects.update(closes_at=at_one_instant, grace_until=at_one_instant, accepts_until=at_one_instant)

    assert close_overdue_attempts(at_once=3) == Closed(not_taken=8)


def test_one_that_cannot_be_closed_does_not_stop_the_rest(
    attempt: Attempt, caplog: pytest.LogCaptureFixture, events_of: EventsOf
) -> None:
    """A draft that no submission can hold: the event of this attempt's next version exists already."""
    broken, *healthy = others(attempt, 4)
    for each in (broken, *healthy):
        keep(each, q1="b")
        end(each)
    Attempt.objects.filter(pk=broken.pk).update(version=0)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO outbox_event (event_id, kind, subject, subject_version, actor_type, payload)"
            " VALUES (gen_random_uuid(), 'Foreign', %s, 1, 'policy', '{}')",
            [f"attempt:{broken.pk}"],
        )

    with caplog.at_level(logging.ERROR):
        assert close_overdue_attempts() == Closed(handed_in=3, failed=1)
    assert close_overdue_attempts() == Closed(failed=1)

    assert set(Submission.objects.values_list("attempt", flat=True)) == {each.pk for each in healthy}
    broken.refresh_from_db()
    assert broken.state == AttemptState.OPEN
    assert [record.message for record in caplog.records][:2] == [
        "Could not close 4 overdue attempts at once; closing them one by one.",
        f"Could not close attempt {broken.pk}.",
    ]


def test_the_draft_stays_for_a_reopened_attempt(attempt: Attempt) -> None:
    keep(attempt, q1="b")
    end(attempt)
    close_overdue_attempts()
    assert Draft.objects.filter(attempt=attempt).exists()


def test_overdue_attempts_are_found_by_their_own_index(attempt: Attempt, student: User) -> None:
    gather(attempt)
    statement, parameters = (
        closing._overdue().order_by("accepts_until").values_list("id").query.sql_with_params()
    )
    assert explain_statement(statement, parameters) == {"attempts_overdue_idx"}
