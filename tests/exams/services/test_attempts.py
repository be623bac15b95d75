"""Starting an attempt: the personal deadline, the latest paper, no attempt too many, also when two start at once."""

import datetime as dt
from functools import partial
from typing import Any

import pytest

from exams.errors import NoAttemptsLeft, NotFound, NotOpen
from exams.models import Attempt, AttemptState, Exam
from exams.services.attempts import Started, start_attempt
from gradebook.models import Enrolment, User
from outbox.models import Event
from tests import factories
from tests.exams.together import at_once
from tests.people import World

HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)


def start(exam: Exam, student: User) -> Started:
    return start_attempt(exam_id=exam.pk, student_id=student.pk)


def rows_of(attempt: Attempt) -> list[Any]:
    return list(
        Event.objects.filter(subject=f"attempt:{attempt.pk}")
        .order_by("subject_version")
        .values("kind", "subject_version", "tenant_id", "actor_type", "actor_id", "payload")
    )


def test_a_started_attempt_has_the_personal_deadline_and_its_event(exam: Exam, student: User) -> None:
    started = start(exam, student)

    attempt = Attempt.objects.get()
    assert started == Started(attempt, is_new=True)
    assert (attempt.number, attempt.state, attempt.version) == (1, AttemptState.OPEN, 1)
    assert attempt.closes_at == attempt.accepts_until == exam.closes_at
    assert rows_of(attempt) == [
        {
            "kind": "AttemptStarted",
            "subject_version": 1,
            "tenant_id": exam.school_id,
            "actor_type": "person",
            "actor_id": student.pk,
            "payload": {
                "attempt_id": str(attempt.pk),
                "exam_id": str(exam.pk),
                "student_id": str(student.pk),
                "number": 1,
                "revision": 1,
                "closes_at": exam.closes_at.isoformat(timespec="microseconds"),
                "rule": "exam close",
            },
        }
    ]


def test_the_open_attempt_is_given_again(exam: Exam, student: User) -> None:
    first = start(exam, student)

    again = start(exam, student)

    assert again == Started(first.attempt, is_new=False)
    assert Attempt.objects.count() == Event.objects.filter(subject__startswith="attempt:").count() == 1


def test_the_latest_published_paper_is_sat(exam: Exam, student: User) -> None:
    latest = factories.published_revision(exam)
    factories.draft_revision(exam)

    assert start(exam, student).attempt.revision == latest


def test_a_limited_exam_closes_by_the_students_own_factor(exam: Exam, student: User) -> None:
    Exam.objects.update(time_limit=dt.timedelta(minutes=20), grace_seconds=30, late_seconds=600)
    factories.accommodation(student, "1.50")

    attempt = start(exam, student).attempt

    assert attempt.closes_at - attempt.started_at == dt.timedelta(minutes=30)
    assert attempt.grace_until - attempt.closes_at == dt.timedelta(seconds=30)
    assert attempt.accepts_until - attempt.grace_until == dt.timedelta(seconds=600)
    assert attempt.deadline_rule == "time limit 20 min, x 1.5 extra time"


@pytest.mark.parametrize("scope", ["student", "school_class", "everybody"])
def test_an_extension_counts_for_those_it_is_for(
    exam: Exam, student: User, teacher: User, world: World, scope: str
) -> None:
    to: dict[str, Any] = {"student": student, "school_class": world.school_class}
    factories.extension(exam, teacher, **({scope: to[scope]} if scope in to else {}))

    assert start(exam, student).attempt.closes_at == exam.closes_at + dt.timedelta(minutes=10)


def test_an_extension_for_others_does_not_count(
    exam: Exam, student: User, other_student: User, teacher: User, world: World
) -> None:
    factories.extension(exam, teacher, student=other_student)
    factories.extension(exam, teacher, school_class=factories.school_class(world.school))

    assert start(exam, student).attempt.closes_at == exam.closes_at


def without_enrolment(exam: Exam, student: User) -> None:
    Enrolment.objects.all().delete()


def left_the_class(exam: Exam, student: User) -> None:
    Enrolment.objects.update(ends_on=dt.datetime.now(tz=dt.UTC).date() - 2 * DAY)


def not_yet_in_the_class(exam: Exam, student: User) -> None:
    Enrolment.objects.update(starts_on=dt.datetime.now(tz=dt.UTC).date() + 2 * DAY)


def not_given_to_the_class(exam: Exam, student: User) -> None:
    exam.targets.all().delete()


def of_another_school(exam: Exam, student: User) -> None:
    exam.targets.all().delete()
    factories.target(factories.exam(), student.enrolments.get().school_class)
    Exam.objects.filter(pk=exam.pk).update(school=factories.school())
    factories.target(exam, student.enrolments.get().school_class)


def without_a_paper(exam: Exam, student: User) -> None:
    exam.pk = factories.exam(school=exam.school).pk


@pytest.mark.parametrize(
    "spoil",
    [
        without_enrolment,
        left_the_class,
        not_yet_in_the_class,
        not_given_to_the_class,
        of_another_school,
        without_a_paper,
    ],
    ids=lambda spoil: spoil.__name__,
)
def test_an_exam_that_is_not_the_students_is_not_found(exam: Exam, student: User, spoil: Any) -> None:
    spoil(exam, student)

    with pytest.raises(NotFound):
        start(exam, student)
    assert not Attempt.objects.exists()


@pytest.mark.parametrize(("zone", "may_start"), [("Pacific/Kiritimati", True), ("Pacific/Pago_Pago", False)])
def test_the_schools_calendar_says_whether_the_first_day_in_class_has_come(
    exam: Exam, student: User, zone: str, may_start: bool
) -> None:
    """The two zones are 25 hours apart: it is always tomorrow in one, seen from the other."""
    exam.school.time_zone = zone
    exam.school.save()
    today_in_the_east = dt.datetime.now(tz=dt.timezone(14 * HOUR)).date()
    Enrolment.objects.update(starts_on=today_in_the_east)

    if may_start:
        assert start(exam, student).is_new
    else:
        with pytest.raises(NotFound):
            start(exam, student)


def test_an_exam_cannot_be_started_before_it_opens(exam: Exam, student: User) -> None:
    Exam.objects.update(opens_at=exam.opens_at + 90 * dt.timedelta(minutes=1))

    with pytest.raises(NotOpen) as refused:
        start(exam, student)
    assert refused.value.extra.keys() == {"opens_at"}


def test_an_exam_cannot_be_started_after_its_close(exam: Exam, student: User) -> None:
    Exam.objects.update(closes_at=exam.closes_at - 61 * dt.timedelta(minutes=1))

    with pytest.raises(NotOpen) as refused:
        start(exam, student)
    assert refused.value.extra.keys() == {"closed_at"}


def test_an_extension_lets_a_student_start_after_the_close(exam: Exam, student: User, teacher: User) -> None:
    Exam.objects.update(closes_at=exam.closes_at - 61 * dt.timedelta(minutes=1))
    factories.extension(exam, teacher, student=student)

    assert start(exam, student).is_new


def test_no_more_attempts_than_allowed_are_started(exam: Exam, student: User) -> None:
    Exam.objects.update(attempts_allowed=2)
    for number in (1, 2):
        assert start(exam, student).attempt.number == number
        Attempt.objects.update(state=AttemptState.SUBMITTED)

    with pytest.raises(NoAttemptsLeft) as refused:
        start(exam, student)
    assert refused.value.extra == {"attempts_allowed": 2}


def test_an_overdue_attempt_is_closed_before_the_next_is_started(exam: Exam, student: User) -> None:
    Exam.objects.update(attempts_allowed=2)
    past = exam.opens_at + dt.timedelta(minutes=1)
    first = start(exam, student).attempt
    Attempt.objects.update(closes_at=past, grace_until=past, accepts_until=past)

    second = start(exam, student).attempt

    first.refresh_from_db()
    assert (first.state, second.number, second.state) == (AttemptState.NOT_TAKEN, 2, AttemptState.OPEN)


@pytest.mark.django_db(transaction=True)
def test_starts_at_once_make_one_attempt(exam: Exam, student: User) -> None:
    Exam.objects.update(attempts_allowed=5)

    outcomes = at_once(*[partial(start, exam, student)] * 8)

    attempt = Attempt.objects.get()
    answers = sorted((started.attempt.pk, started.is_new) for started in outcomes)
    assert answers == [(attempt.pk, False)] * 7 + [(attempt.pk, True)]
    assert len(rows_of(attempt)) == 1
