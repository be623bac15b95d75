"""The students' pages as HTML: who may see them, and what they cost. What they do in a browser is in tests/journeys."""

import datetime as dt
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from uuid_utils.compat import uuid7

from exams.models import Attempt, Exam, Submission
from exams.services.attempts import start_attempt
from exams.services.closing import close_overdue_attempts
from exams.services.drafts import save_draft
from exams.web.urls import urlpatterns
from gradebook.models import User
from tests import factories
from tests.people import World

HOUR = dt.timedelta(hours=1)
PEOPLE = ["student", "other_student", "teacher", "other_teacher", "other_school_teacher", "admin", "nobody"]


@pytest.fixture
def exam(world: World) -> Exam:
    return give(world, "Geography")


def give(world: World, title: str, **fields: Any) -> Exam:
    exam = factories.exam(school=world.school, title=title, **fields)
    factories.published_revision(exam)
    factories.target(exam, world.school_class)
    return exam


def hand_in(exam: Exam, student: User) -> Submission:
    """Let the server hand in one answer for the student, at a deadline that is over."""
    attempt = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
    question = (exam.revisions.get().paper or [])[4]["id"]
    save_draft(attempt_id=attempt.pk, student_id=student.pk, answers={question: "Paris"}, token=None)
    past = attempt.started_at - dt.timedelta(minutes=1)
    Attempt.objects.filter(pk=attempt.pk).update(closes_at=past, grace_until=past, accepts_until=past)
    close_overdue_attempts()
    return Submission.objects.get(attempt=attempt)


def sign_in(client: Client, request: pytest.FixtureRequest, person: str) -> None:
    if person != "nobody":
        client.force_login(request.getfixturevalue(person))


# What each kind of person gets. A page that is not listed here fails the test below.
OWN_LIST = {"nobody": 302, "student": 200, "other_student": 200}
CLASSMATES = {"nobody": 302, "student": 200, "other_student": 200}
MINE_ALONE = {"nobody": 302, "student": 200}
EXPECTED = {
    "mine": OWN_LIST,
    "receipts": OWN_LIST,
    "exam": CLASSMATES,
    "receipt": MINE_ALONE,
    "receipt-file": MINE_ALONE,
    "sitting": MINE_ALONE | {"student": 302},  # it is over: to its receipt
    "marking": {"nobody": 302, "teacher": 200, "other_teacher": 200, "other_school_teacher": 200},
    # An exam of a course that nobody here teaches: tests/exams/marking has the others.
    "marking-exam": {"nobody": 302},
    "start": {
        "nobody": 302,
        "student": 302,
        "other_student": 302,
    },  # to the exam's page, or to the new attempt
}


@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("name", [pattern.name for pattern in urlpatterns])
def test_each_page_is_found_only_by_whom_it_is_for(
    client: Client, exam: Exam, student: User, request: pytest.FixtureRequest, name: str, person: str
) -> None:
    submission = hand_in(exam, student)
    ids = {"exam_id": exam.pk, "attempt_id": submission.attempt_id, "receipt_id": submission.pk}
    pattern = next(pattern for pattern in urlpatterns if pattern.name == name)
    path = reverse(f"exams:{name}", kwargs={key: ids[key] for key in pattern.pattern.converters})
    sign_in(client, request, person)
    response = client.post(path) if name == "start" else client.get(path)
    assert response.status_code == EXPECTED[name].get(person, 404)
    if person == "nobody":
        assert response.headers["Location"] == f"/accounts/login/?next={path}"


@pytest.mark.parametrize("name", ["exam", "sitting", "receipt", "receipt-file", "start"])
def test_what_does_not_exist_is_not_found(client: Client, student: User, name: str) -> None:
    client.force_login(student)
    path = reverse(f"exams:{name}", args=[uuid7()])
    response = client.post(path) if name == "start" else client.get(path)
    assert response.status_code == 404


@pytest.mark.parametrize("count", [1, 3])
def test_my_exams_cost_the_same_reads_however_many_they_are(
    client: Client, world: World, student: User, django_assert_num_queries: Any, count: int
) -> None:
    for number in range(count):
        start_attempt(exam_id=give(world, f"Exam {number}").pk, student_id=student.pk)
    client.force_login(student)
    with django_assert_num_queries(
        8
    ):  # session, person, school; exams, factors, extensions, classes, attempts
        response = client.get("/exams/")
    assert response.content.count(b'class="card exam-card"') == count


@pytest.mark.parametrize("count", [1, 3])
def test_my_receipts_cost_the_same_reads_however_many_they_are(
    client: Client, world: World, student: User, django_assert_num_queries: Any, count: int
) -> None:
    for number in range(count):
        hand_in(give(world, f"Exam {number}"), student)
    client.force_login(student)
    with django_assert_num_queries(4):  # session, person, school, receipts
        response = client.get("/exams/receipts/")
    assert response.content.count(b'<li class="card">') == count


def test_an_attempt_whose_time_is_over_is_not_offered_to_go_on_with(
    client: Client, exam: Exam, student: User
) -> None:
    attempt = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
    past = attempt.started_at - dt.timedelta(seconds=1)  # the server closes it some seconds later
    Attempt.objects.update(closes_at=past, grace_until=past, accepts_until=past)
    client.force_login(student)
    pages = {path: client.get(path).content.decode() for path in ("/exams/", f"/exams/{exam.pk}/")}
    assert ["Continue" in page for page in pages.values()] == [False, False]
    assert "Time is up, being handed in" in pages["/exams/"]
    assert "is being handed in for you" in pages[f"/exams/{exam.pk}/"]


def test_starting_twice_leads_to_the_same_attempt(client: Client, exam: Exam, student: User) -> None:
    client.force_login(student)
    answers = [client.post(f"/exams/{exam.pk}/attempts/") for _ in range(2)]
    attempt = Attempt.objects.get()
    assert [answer.headers["Location"] for answer in answers] == [f"/exams/attempts/{attempt.pk}/"] * 2


def test_an_exam_that_cannot_be_started_says_why(client: Client, world: World, student: User) -> None:
    now = dt.datetime.now(tz=dt.UTC)
    exam = give(world, "Tomorrow's", opens_at=now + HOUR, closes_at=now + 2 * HOUR)
    client.force_login(student)
    response = client.post(f"/exams/{exam.pk}/attempts/", follow=True)
    assert response.redirect_chain == [(f"/exams/{exam.pk}/", 302)]
    assert "This exam opens at" in response.content.decode()
    assert Attempt.objects.count() == 0


def test_the_shell_of_the_sitting_holds_no_question_and_is_not_cached(
    client: Client, exam: Exam, student: User
) -> None:
    attempt = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
    client.force_login(student)
    response = client.get(f"/exams/attempts/{attempt.pk}/")
    assert "A short text question?" not in response.content.decode()
    assert "no-store" in response.headers["Cache-Control"]
    assert "csrftoken" in response.cookies
