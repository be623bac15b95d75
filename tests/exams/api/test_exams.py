"""Exams as the API lists them: what is to be sat, from when to when, and for how long."""

import datetime as dt

import pytest
from pytest_django import DjangoAssertNumQueries

from exams.models import Attempt, AttemptState, Exam
from gradebook.models import User
from tests import factories
from tests.exams.api.callers import Caller, in_helsinki, read
from tests.people import World

HOUR = dt.timedelta(hours=1)
MINUTE = dt.timedelta(minutes=1)


def test_an_exam_says_what_the_student_needs_to_know(exam: Exam, student: User, caller: Caller) -> None:
    [shown] = read(caller.get("exams"), 200)

    now = dt.datetime.fromisoformat(shown.pop("server_now"))
    assert abs(now - dt.datetime.now(tz=dt.UTC)) < MINUTE
    assert shown == {
        "id": str(exam.pk),
        "title": "Exam",
        "opens_at": in_helsinki(exam.opens_at),
        "closes_at": in_helsinki(exam.closes_at),
        "deadline_rule": "exam close",
        "last_start": in_helsinki(exam.closes_at),
        "time_limit_seconds": None,
        "attempts_allowed": 1,
        "attempts": [],
        "may_start": True,
    }


def test_an_attempt_under_way_says_when_the_exam_closes(exam: Exam, attempt: Attempt, caller: Caller) -> None:
    Attempt.objects.update(closes_at=attempt.closes_at - 5 * MINUTE, deadline_rule="time limit 20 min")

    [shown] = read(caller.get("exams"), 200)

    assert (shown["closes_at"], shown["deadline_rule"]) == (
        in_helsinki(attempt.closes_at - 5 * MINUTE),
        "time limit 20 min",
    )
    assert (shown["may_start"], shown["attempts"]) == (
        False,
        [
            {
                "id": str(attempt.pk),
                "number": 1,
                "state": "open",
                "started_at": in_helsinki(attempt.started_at),
                "closes_at": shown["closes_at"],
            }
        ],
    )


def test_the_close_is_the_students_own(exam: Exam, student: User, teacher: User, caller: Caller) -> None:
    Exam.objects.update(time_limit=20 * MINUTE)
    factories.accommodation(student, "1.50")
    factories.extension(exam, teacher, student=student)

    [shown] = read(caller.get("exams"), 200)

    assert shown["time_limit_seconds"] == 1200
    assert shown["closes_at"] == in_helsinki(exam.closes_at + 20 * MINUTE)
    assert shown["last_start"] == in_helsinki(exam.closes_at + 10 * MINUTE)


@pytest.mark.parametrize("when", ["upcoming", "past"])
def test_an_exam_is_listed_before_it_opens_and_after_it_closed(exam: Exam, caller: Caller, when: str) -> None:
    by = 3 * HOUR if when == "upcoming" else -3 * HOUR
    Exam.objects.update(opens_at=exam.opens_at + by, closes_at=exam.closes_at + by)

    [shown] = read(caller.get("exams"), 200)

    assert shown["may_start"] is False


def test_used_up_attempts_leave_nothing_to_start(attempt: Attempt, caller: Caller) -> None:
    Attempt.objects.update(state=AttemptState.GRADED)
    assert [shown["may_start"] for shown in read(caller.get("exams"), 200)] == [False]


def test_exams_of_others_are_not_listed(exam: Exam, student: User, caller: Caller, world: World) -> None:
    elsewhere = factories.exam(school=world.other_school)
    factories.published_revision(elsewhere)
    factories.target(elsewhere, factories.school_class(world.other_school))
    of_a_neighbouring_class = factories.exam(school=world.school)
    factories.published_revision(of_a_neighbouring_class)
    factories.target(of_a_neighbouring_class)
    without_paper = factories.exam(school=world.school)
    factories.target(without_paper, world.school_class)

    assert [shown["id"] for shown in read(caller.get("exams"), 200)] == [str(exam.pk)]


def test_an_exam_for_two_classes_of_one_student_is_listed_once(
    exam: Exam, student: User, caller: Caller, world: World
) -> None:
    second = factories.school_class(world.school)
    factories.enrolment(student, second)
    factories.target(exam, second)

    assert len(read(caller.get("exams"), 200)) == 1


def test_the_list_takes_five_reads_whatever_its_length(
    exam: Exam,
    attempt: Attempt,
    caller: Caller,
    teacher: User,
    world: World,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(5):
        assert len(read(caller.get("exams"), 200)) == 1
    for _ in range(2):
        another = factories.exam(school=world.school)
        revision = factories.published_revision(another)
        factories.target(another, world.school_class)
        factories.attempt(revision, attempt.student)
        factories.extension(another, teacher)
    with django_assert_num_queries(5):
        assert len(read(caller.get("exams"), 200)) == 3
