"""Deadlines that move during an exam or after it: whom they reach, what is reopened, and whose hand-in is never undone."""

import datetime as dt
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection, transaction
from pytest_django import DjangoAssertNumQueries

from exams.errors import AttemptClosed
from exams.locks import lock_exam_times, lock_student_times
from exams.models import Attempt, AttemptState, Draft, Exam, ExtensionKind, Submission
from exams.services.attempts import start_attempt
from exams.services.closing import MARGIN, close_overdue_attempts
from exams.services.deadlines import (
    Moved,
    grant_extension,
    move_exam_deadlines,
    move_student_deadlines,
    set_accommodation,
)
from exams.services.drafts import save_draft
from gradebook.models import User
from outbox.models import Event
from tests import factories
from tests.exams.together import at_once
from tests.people import World
from tests.sitting import hand_in

EventsOf = Callable[[UUID], list[tuple[str, dict[str, Any]]]]
MINUTE = dt.timedelta(minutes=1)


def grant(exam: Exam, by: User, amount: int = 10, **to: Any) -> None:
    grant_extension(
        exam_id=exam.pk, kind=ExtensionKind.MINUTES, amount=amount, reason="A fire alarm.", by=by.pk, **to
    )


def end_the_exam(exam: Exam, teacher: User) -> None:
    """Let the exam have closed a minute ago, for everybody under way too, and close their attempts."""
    Exam.objects.filter(pk=exam.pk).update(closes_at=dt.datetime.now(tz=dt.UTC) - MINUTE)
    move_exam_deadlines(exam_id=exam.pk, reason="test", by=teacher.pk)
    close_overdue_attempts()


def keep(attempt: Attempt) -> None:
    save_draft(attempt_id=attempt.pk, student_id=attempt.student_id, answers={"q1": "b"}, token=None)


def test_a_grant_reaches_an_open_attempt(
    exam: Exam, attempt: Attempt, teacher: User, events_of: EventsOf
) -> None:
    grant(exam, teacher)

    attempt.refresh_from_db()
    new_closes_at = exam.closes_at + 10 * MINUTE
    assert (attempt.closes_at, attempt.accepts_until) == (new_closes_at, new_closes_at)
    assert attempt.deadline_rule == "exam close, +10 min"
    assert events_of(attempt.pk)[1:] == [
        (
            "DeadlineMoved",
            {
                "attempt_id": str(attempt.pk),
                "exam_id": str(exam.pk),
                "student_id": str(attempt.student_id),
                "number": 1,
                "old_closes_at": exam.closes_at.isoformat(timespec="microseconds"),
                "new_closes_at": new_closes_at.isoformat(timespec="microseconds"),
                "rule": "exam close, +10 min",
                "reason": "A fire alarm.",
            },
        )
    ]
    event = Event.objects.get(kind="DeadlineMoved")
    assert (event.actor_type, event.actor_id) == ("person", teacher.pk)


@pytest.mark.parametrize("scope", ["student", "class"])
def test_a_grant_leaves_others_alone(
    exam: Exam, attempt: Attempt, other_student: User, teacher: User, world: World, scope: str
) -> None:
    elsewhere = factories.school_class(world.school)
    to: dict[str, dict[str, Any]] = {
        "student": {"student_id": other_student.pk},
        "class": {"school_class_id": elsewhere.pk},
    }
    grant(exam, teacher, **to[scope])

    attempt.refresh_from_db()
    assert (attempt.closes_at, attempt.version) == (exam.closes_at, 1)


def test_a_changed_window_reaches_open_attempts(exam: Exam, attempt: Attempt, teacher: User) -> None:
    Exam.objects.update(closes_at=exam.closes_at - 5 * MINUTE, grace_seconds=60, late_seconds=120)

    assert move_exam_deadlines(exam_id=exam.pk, reason="shorter", by=teacher.pk) == Moved(1, 0)

    attempt.refresh_from_db()
    assert attempt.closes_at == exam.closes_at - 5 * MINUTE
    assert attempt.accepts_until == attempt.closes_at + 3 * MINUTE


def test_nothing_moves_when_nothing_changed(
    exam: Exam, attempt: Attempt, teacher: User, events_of: EventsOf
) -> None:
    assert move_exam_deadlines(exam_id=exam.pk, reason="saved again", by=teacher.pk) == Moved(0, 0)
    assert move_student_deadlines(student_id=attempt.student_id, reason="again", by=teacher.pk) == Moved(0, 0)
    assert [kind for kind, _ in events_of(attempt.pk)] == ["AttemptStarted"]


def test_an_accommodation_reaches_the_open_attempt(
    exam: Exam, student: User, other_student: User, teacher: User
) -> None:
    Exam.objects.update(time_limit=20 * MINUTE)
    mine, other = (
        start_attempt(exam_id=exam.pk, student_id=each.pk).attempt for each in (student, other_student)
    )

    set_accommodation(student_id=student.pk, factor=Decimal("1.5"), by=teacher.pk)

    mine.refresh_from_db()
    other.refresh_from_db()
    assert mine.closes_at - mine.started_at == 30 * MINUTE
    assert other.closes_at - other.started_at == 20 * MINUTE


def test_a_grant_after_the_end_reopens_and_withdraws_what_the_server_handed_in(
    exam: Exam, attempt: Attempt, teacher: User, events_of: EventsOf
) -> None:
    keep(attempt)
    end_the_exam(exam, teacher)
    handed_in = Submission.objects.get()

    grant(exam, teacher)

    attempt.refresh_from_db()
    handed_in.refresh_from_db()
    assert (attempt.state, attempt.ended_at) == (AttemptState.OPEN, None)
    assert attempt.closes_at > dt.datetime.now(tz=dt.UTC)
    assert handed_in.withdrawn_at is not None
    assert events_of(attempt.pk)[-1] == (
        "AttemptReopened",
        {
            "attempt_id": str(attempt.pk),
            "exam_id": str(exam.pk),
            "student_id": str(attempt.student_id),
            "number": 1,
            "withdrawn_submission_id": str(handed_in.pk),
            "new_closes_at": attempt.closes_at.isoformat(timespec="microseconds"),
            "reason": "A fire alarm.",
        },
    )


def test_a_reopened_attempt_goes_on_from_its_draft_and_is_closed_again(
    exam: Exam, attempt: Attempt, teacher: User
) -> None:
    keep(attempt)
    end_the_exam(exam, teacher)
    grant(exam, teacher)
    token = attempt.draft.token
    save_draft(attempt_id=attempt.pk, student_id=attempt.student_id, answers={"q1": "c"}, token=token)
    over = dt.datetime.now(tz=dt.UTC) - MARGIN
    Attempt.objects.update(closes_at=over, grace_until=over, accepts_until=over)
    close_overdue_attempts()

    assert [each.answers for each in Submission.objects.order_by("id")] == ['{"q1":"b"}', '{"q1":"c"}']
    assert Submission.objects.get(withdrawn_at=None).answers == '{"q1":"c"}'


def test_an_attempt_that_was_not_taken_is_reopened(
    exam: Exam, attempt: Attempt, teacher: User, events_of: EventsOf
) -> None:
    end_the_exam(exam, teacher)
    assert events_of(attempt.pk)[-1][0] == "AttemptNotTaken"

    grant(exam, teacher)

    attempt.refresh_from_db()
    assert attempt.state == AttemptState.OPEN
    kind, payload = events_of(attempt.pk)[-1]
    assert (kind, payload["withdrawn_submission_id"]) == ("AttemptReopened", None)


def test_nobodys_own_hand_in_is_undone(exam: Exam, attempt: Attempt, teacher: User) -> None:
    hand_in(attempt)
    end_the_exam(exam, teacher)

    grant(exam, teacher)

    attempt.refresh_from_db()
    assert (attempt.state, Submission.objects.get().withdrawn_at) == (AttemptState.SUBMITTED, None)


def test_a_grant_that_is_over_already_reopens_nothing(exam: Exam, attempt: Attempt, teacher: User) -> None:
    keep(attempt)
    end_the_exam(exam, teacher)
    Exam.objects.update(closes_at=exam.closes_at - 90 * MINUTE, opens_at=exam.opens_at - 90 * MINUTE)

    grant(exam, teacher, amount=1)

    attempt.refresh_from_db()
    assert attempt.state == AttemptState.SUBMITTED


def test_only_the_last_attempt_is_reopened(
    exam: Exam, student: User, attempt: Attempt, teacher: User
) -> None:
    Exam.objects.update(attempts_allowed=2)
    over = exam.opens_at + MINUTE
    Attempt.objects.update(closes_at=over, grace_until=over, accepts_until=over)
    second = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
    end_the_exam(exam, teacher)

    grant(exam, teacher, amount=30)

    states = dict(Attempt.objects.values_list("number", "state"))
    assert states == {1: AttemptState.NOT_TAKEN, second.number: AttemptState.OPEN}


def test_a_whole_class_moves_with_the_same_number_of_statements(
    exam: Exam,
    attempt: Attempt,
    teacher: User,
    world: World,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for count in (1, 3):
        for _ in range(count):
            student = factories.student(world.school)
            factories.enrolment(student, world.school_class)
            factories.attempt(attempt.revision, student)
        with django_assert_num_queries(17):
            grant(exam, teacher)


@pytest.mark.django_db(transaction=True)
def test_a_grant_and_a_start_at_once_never_miss_each_other(exam: Exam, world: World, teacher: User) -> None:
    """Whoever comes first, the attempt ends with the time that was granted."""
    for _ in range(15):
        student = factories.student(world.school)
        factories.enrolment(student, world.school_class)

        outcomes = at_once(
            partial(start_attempt, exam_id=exam.pk, student_id=student.pk),
            partial(grant, exam, teacher, student_id=student.pk),
        )

        assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)]
        assert Attempt.objects.get(student=student).closes_at == exam.closes_at + 10 * MINUTE


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("changed", ["exam", "student"])
def test_a_start_waits_for_a_change_of_what_its_deadline_is_made_of(
    exam: Exam, student: User, teacher: User, database_url: str, changed: str
) -> None:
    def start_elsewhere() -> Attempt:
        try:
            return start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock_exam_times(exam.pk) if changed == "exam" else lock_student_times(student.pk)
            started = pool.submit(start_elsewhere)
            wait_for_a_waiter(database_url)
            if changed == "exam":
                factories.extension(exam, teacher)
            else:
                Exam.objects.update(time_limit=20 * MINUTE)
                factories.accommodation(student, "2.00")
        attempt = started.result(timeout=60)

    if changed == "exam":
        assert attempt.closes_at == exam.closes_at + 10 * MINUTE
    else:
        assert attempt.closes_at - attempt.started_at == 40 * MINUTE


def wait_for_a_waiter(database_url: str) -> None:
    """Return once somebody waits for an advisory lock; give up after half a minute."""
    end = dt.datetime.now(tz=dt.UTC) + dt.timedelta(seconds=30)
    with psycopg.connect(database_url, autocommit=True) as observer:
        while dt.datetime.now(tz=dt.UTC) < end:
            waiting = (
                "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
                " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
            if observer.execute(waiting).fetchone():
                return
    pytest.fail("Nobody waited for the lock.")


def test_a_student_with_half_as_long_again_is_on_time_where_others_are_not(
    exam: Exam, student: User, other_student: User, teacher: User
) -> None:
    """O04: 20 minutes, open from 09:30 to 09:55; factor 1.5, started 09:31. At 09:59 in time, at 10:02 too late."""
    for minutes_since_start, is_in_time in ((28, True), (31, False)):
        half_past_nine = dt.datetime.now(tz=dt.UTC) - (minutes_since_start + 1) * MINUTE
        Exam.objects.update(
            opens_at=half_past_nine, closes_at=half_past_nine + 25 * MINUTE, time_limit=20 * MINUTE
        )
        set_accommodation(student_id=student.pk, factor=Decimal("1.5"), by=teacher.pk)
        Attempt.objects.all().delete()
        for person, may_save in ((student, is_in_time), (other_student, False)):
            revision = exam.revisions.get()
            attempt = factories.attempt(revision, person, started_at=half_past_nine + MINUTE)
            move_exam_deadlines(
                exam_id=exam.pk, reason="as it would have been set at the start", by=teacher.pk
            )
            if may_save:
                keep(attempt)
            else:
                with pytest.raises(AttemptClosed):
                    keep(attempt)
        assert Draft.objects.count() == is_in_time
        Draft.objects.all().delete()
