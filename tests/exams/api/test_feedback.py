"""When a student may read what the authors say to their answers: with the score, after the exam, and not while sitting it."""

import datetime as dt
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from exams.models import Attempt, Exam, ExamRevision, Result, Submission
from gradebook.models import User
from outbox.db import database_now
from tests import factories
from tests.exams.api.callers import Caller, read, with_token
from tests.exams.grading_room import grade_everything
from tests.factories.papers import a_question, option
from tests.people import World
from tests.sitting import hand_in

MINUTE = dt.timedelta(minutes=1)
SECRET = "SECRET-WORDS"
pytestmark = pytest.mark.django_db


@pytest.fixture
def exam(world: World) -> Exam:
    """One choice with words for either, and general words."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period, attempts_allowed=2)
    choices = (option("a", 100, feedback=f"{SECRET}: yes"), option("b", feedback=f"{SECRET}: no"))
    papers = [
        a_question("essay", text="Why?"),
        a_question(
            "single_choice",
            *choices,
            text="<b>Which?</b>",
            text_format="html",
            feedback=f"<i>{SECRET}</i>: all",
        ),
    ]
    factories.published_revision(exam, papers)
    factories.target(exam, world.school_class)
    return exam


@pytest.fixture
def submission(attempt: Attempt) -> Submission:
    """The second choice, wrong; the essay was left blank, so the result is complete."""
    question = (ExamRevision.objects.get().paper or [])[1]
    submission = hand_in(attempt, {question["id"]: question["choices"][1]["id"]})
    grade_everything()
    assert Result.objects.get().state == "graded"
    return submission


def end(*, released_in: dt.timedelta | None, closes_in: dt.timedelta = -MINUTE) -> None:
    now = database_now()
    released = None if released_in is None else now + released_in
    Exam.objects.update(
        opens_at=now - 2 * 60 * MINUTE, closes_at=now + closes_in, scores_released_at=released
    )


def feedback(caller: Caller, attempt: Attempt) -> Any:
    return read(caller.get(f"attempts/{attempt.pk}"), 200)["feedback"]


def test_feedback_is_shown_with_the_released_score(
    attempt: Attempt, submission: Submission, caller: Caller
) -> None:
    end(released_in=-MINUTE)
    question = (ExamRevision.objects.get().paper or [])[1]
    assert feedback(caller, attempt) == [
        {"question_id": question["id"], "to_answer": [f"{SECRET}: no"], "general": f"<i>{SECRET}</i>: all"}
    ]


@pytest.mark.parametrize(
    ("released_in", "closes_in"), [(None, -MINUTE), (MINUTE, -MINUTE), (-MINUTE, MINUTE), (None, MINUTE)]
)
def test_feedback_is_no_part_of_any_answer_before(
    client: Client,
    attempt: Attempt,
    student: User,
    submission: Submission,
    released_in: dt.timedelta | None,
    closes_in: dt.timedelta,
) -> None:
    caller = with_token(student)
    end(released_in=released_in, closes_in=closes_in)
    client.force_login(student)
    bodies: list[Any] = [
        caller.get(f"attempts/{attempt.pk}"),
        caller.get(f"attempts/{attempt.pk}/standing"),
        caller.get("exams"),
        caller.get("receipts"),
        client.get(reverse("exams:receipt", args=[submission.pk])),
        client.get(reverse("exams:exam", args=[attempt.exam_id])),
    ]
    assert [SECRET in body.content.decode() for body in bodies] == [False] * len(bodies)
    assert feedback(caller, attempt) is None


def test_open_attempt_never_has_feedback_and_hides_that_of_the_one_before(
    client: Client, attempt: Attempt, student: User, submission: Submission, caller: Caller
) -> None:
    """The second attempt began before the close, and more time was granted: the first one's feedback would be its key."""
    end(released_in=-MINUTE)
    second = factories.attempt(attempt.revision, student, number=2)
    client.force_login(student)
    bodies: list[Any] = [
        caller.get(f"attempts/{attempt.pk}"),
        caller.get(f"attempts/{second.pk}"),
        client.get(reverse("exams:receipt", args=[submission.pk])),
        client.get(reverse("exams:sitting", args=[second.pk])),
    ]
    assert [SECRET in body.content.decode() for body in bodies] == [False] * len(bodies)

    Attempt.objects.filter(pk=second.pk).update(state="not_taken", ended_at=database_now())
    assert len(feedback(caller, attempt)) == 1


def test_feedback_waits_for_a_classmate_who_still_sits(
    client: Client,
    attempt: Attempt,
    student: User,
    other_student: User,
    submission: Submission,
    caller: Caller,
) -> None:
    """Half as much time again runs past the close: until it is over, the friend outside would have the answers."""
    end(released_in=-MINUTE)
    theirs = factories.attempt(attempt.revision, other_student)
    client.force_login(student)
    page = client.get(reverse("exams:receipt", args=[submission.pk])).content.decode()
    assert (SECRET in page, feedback(caller, attempt)) == (False, None)

    Attempt.objects.filter(pk=theirs.pk).update(state="submitted", ended_at=database_now())
    assert len(feedback(caller, attempt)) == 1


DAY, MINUTES = {"kind": "calendar_days", "amount": 1}, {"kind": "minutes", "amount": 10}


@pytest.mark.parametrize(
    ("granted", "is_shown"),
    [
        ({**DAY, "student": "other_student"}, False),
        ({**MINUTES, "student": "other_student"}, False),
        ({**MINUTES, "student": "student"}, False),  # whose second attempt is left
        ({**DAY, "school_class": "here"}, False),
        (MINUTES, False),
        ({"kind": "minutes", "amount": 1, "student": "other_student"}, True),  # it is over by now
        ({"kind": "minutes", "amount": 1}, True),
        ({**DAY, "student": "elsewhere"}, True),  # not given to a class of theirs
        ({**DAY, "school_class": "elsewhere"}, True),
    ],
)
def test_feedback_waits_while_somebody_may_begin_with_more_time(
    world: World,
    attempt: Attempt,
    other_student: User,
    submission: Submission,
    caller: Caller,
    granted: dict[str, Any],
    is_shown: bool,
) -> None:
    end(released_in=-MINUTE, closes_in=-2 * MINUTE)
    people = {
        "student": attempt.student,
        "other_student": other_student,
        "elsewhere": factories.student(world.school),
    }
    classes = {"here": world.school_class, "elsewhere": factories.school_class(world.school)}
    names: dict[str, dict[str, Any]] = {"student": people, "school_class": classes}
    fields = {name: names[name][value] if name in names else value for name, value in granted.items()}
    factories.extension(attempt.exam, factories.admin(), **fields)
    assert (feedback(caller, attempt) is not None) is is_shown


def test_feedback_does_not_wait_for_those_who_have_no_attempt_left(
    attempt: Attempt, student: User, submission: Submission, caller: Caller
) -> None:
    end(released_in=-MINUTE)
    Exam.objects.update(attempts_allowed=1)
    factories.extension(attempt.exam, factories.admin(), student=student)
    assert len(feedback(caller, attempt)) == 1


def test_feedback_is_read_by_its_student_alone(
    client: Client, attempt: Attempt, other_student: User, teacher: User, submission: Submission
) -> None:
    end(released_in=-MINUTE)
    for person in (other_student, teacher):
        client.force_login(person)
        answer = client.get(reverse("exams:receipt", args=[submission.pk]))
        assert (answer.status_code, SECRET in answer.content.decode()) in {(404, False), (403, False)}


def test_feedback_is_on_the_receipt(
    client: Client, student: User, attempt: Attempt, submission: Submission
) -> None:
    end(released_in=-MINUTE)
    client.force_login(student)
    page = client.get(reverse("exams:receipt", args=[submission.pk])).content.decode()
    assert "<b>Which?</b>" in page
    assert f"{SECRET}: no" in page
    assert f"<i>{SECRET}</i>: all" in page
    assert f"{SECRET}: yes" not in page
    assert '<h3 id="feedback-2">Question 2</h3>' in page
    assert 'id="feedback-1"' not in page, "nothing is said of the essay"


def test_feedback_costs_one_read_once_shown_and_none_before(
    attempt: Attempt,
    submission: Submission,
    caller: Caller,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    end(released_in=None)
    with django_assert_num_queries(2):
        feedback(caller, attempt)
    end(released_in=-MINUTE)
    with django_assert_num_queries(3):
        feedback(caller, attempt)


def test_paper_published_before_there_was_feedback_has_none_to_show(
    world: World, student: User, caller: Caller
) -> None:
    silent = factories.exam(school=world.school, course=world.course, period=world.period)
    factories.target(silent, world.school_class)
    attempt = factories.attempt(factories.published_revision(silent, [a_question("essay")]), student)
    hand_in(attempt)
    grade_everything()
    end(released_in=-MINUTE)
    assert feedback(caller, attempt) == []
