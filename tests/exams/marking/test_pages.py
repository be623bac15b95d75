"""The pages on which teachers mark, as HTML: who finds them, what they show and what they cost."""

import re
from decimal import Decimal

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from uuid_utils.compat import uuid7

from exams.models import Exam, Result, Submission
from exams.queries import marking
from gradebook.models import User
from tests import factories
from tests.exams.marking.desk import Desk
from tests.exams.marking.essays import STORM, essay_exam, essays_of, mark, points_given, sit, stands
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)

PEOPLE = ["teacher", "second_teacher", "other_teacher", "other_school_teacher"]
PEOPLE += ["student", "other_student", "admin", "nobody"]
MARKERS = {"teacher": 200, "second_teacher": 200, "nobody": 302}


@pytest.fixture
def desk(client: Client, exam: Exam, teacher: User) -> Desk:
    return Desk(client, exam, teacher)


@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("method", ["get", "post"])
def test_an_exams_answers_are_found_only_by_who_marks_them(
    client: Client,
    exam: Exam,
    submission: Submission,
    person: str,
    method: str,
    request: pytest.FixtureRequest,
) -> None:
    if person != "nobody":
        client.force_login(request.getfixturevalue(person))
    path, (question, _) = f"/exams/marking/{exam.pk}/", essays_of(exam)
    fields = {f"points-{submission.pk}": "3", f"version-{submission.pk}": "1"}
    answer = client.get(path) if method == "get" else client.post(f"{path}?question={question}", fields)

    expected = MARKERS.get(person, 404)
    assert answer.status_code == (302 if method == "post" and expected == 200 else expected)
    assert (STORM in answer.content.decode()) == (answer.status_code == 200)
    is_marked = method == "post" and expected == 200
    assert stands(submission)[2] == Decimal(4 if is_marked else 1)
    if person == "nobody":
        assert str(answer.headers["Location"]).startswith("/accounts/login/")


@pytest.mark.parametrize("person", PEOPLE)
def test_my_exams_to_mark_are_those_of_my_classes(
    client: Client, exam: Exam, submission: Submission, person: str, request: pytest.FixtureRequest
) -> None:
    if person != "nobody":
        client.force_login(request.getfixturevalue(person))
    answer = client.get("/exams/marking/")
    text = answer.content.decode()
    assert (answer.status_code, "2 to mark" in text, "Nothing to mark" in text) == {
        "teacher": (200, True, False),
        "second_teacher": (200, True, False),
        "other_teacher": (200, False, True),
        "other_school_teacher": (200, False, True),
        "nobody": (302, False, False),
    }.get(person, (404, False, False))


def test_a_colleague_of_a_parallel_class_sees_only_the_own_students(
    client: Client, world: World, exam: Exam, submission: Submission, other_teacher: User
) -> None:
    school_class = other_teacher.assignments.get().school_class
    factories.sheet(school_class, world.course, world.period)
    factories.target(exam, school_class)
    own = factories.student(world.school, username="own")
    factories.enrolment(own, school_class)
    sit(exam, own, first="Rain.")
    question, _ = essays_of(exam)

    page = Desk(client, exam, other_teacher).open()

    assert ("Rain." in page, STORM in page) == (True, False)
    assert points_given(exam, question, other_teacher) == {"own": None}


@pytest.mark.parametrize("query", [{"question": str(uuid7())}, {"question": "\0"}, {"question": ""}])
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_question_that_is_not_there_is_not_found(
    desk: Desk, submission: Submission, query: dict[str, str], method: str
) -> None:
    if method == "get":
        assert desk.client.get(desk.path, query).status_code == 404
    else:
        answer = desk.client.post(desk.path, {f"points-{submission.pk}": "1"}, query_params=query)
        assert answer.status_code == 404


def test_an_exam_without_anything_to_mark_says_so(desk: Desk, exam: Exam) -> None:
    assert "Nothing to mark" in desk.client.get(desk.path).content.decode()


@pytest.mark.parametrize("page", ["0", "-1", "x", "9999", "9" * 500, "\u0661"])
def test_a_page_that_is_not_there_is_the_nearest_that_is(
    desk: Desk, submission: Submission, page: str
) -> None:
    assert STORM in desk.open(page=page)


def test_a_blank_essay_waits_for_nobody_and_is_counted(
    desk: Desk, exam: Exam, student: User, submission: Submission, other_student: User
) -> None:
    sit(exam, other_student, first="")
    page = desk.open()
    assert "1 left blank, 0 points" in page
    assert page.count('class="card answer"') == 1


def test_many_answers_come_in_pages_what_waits_first(
    desk: Desk, exam: Exam, world: World, teacher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marking, "ANSWERS_A_PAGE", 2)
    submissions = []
    for name in "abc":
        person = factories.student(world.school, first_name="", last_name=name)
        factories.enrolment(person, world.school_class)
        submissions.append(sit(exam, person, first=f"Answer {name}"))
    mark(submissions[0], desk.question, "1", by=teacher)

    pages = [re.findall(r"Answer [abc]", desk.open(page=number)) for number in (1, 2)]

    assert pages == [["Answer b", "Answer c"], ["Answer a"]]


@pytest.mark.parametrize("count", [1, 3])
def test_my_exams_to_mark_cost_the_same_reads_however_many_they_are(
    client: Client,
    world: World,
    student: User,
    teacher: User,
    django_assert_num_queries: DjangoAssertNumQueries,
    count: int,
) -> None:
    for number in range(count):
        sit(essay_exam(world, title=f"Exam {number}"), student)
    client.force_login(teacher)
    with django_assert_num_queries(5):  # session, person, school; counts, exams
        page = client.get("/exams/marking/").content.decode()
    assert page.count('class="card to-mark"') == count


@pytest.mark.parametrize("count", [1, 3])
def test_an_exams_answers_cost_the_same_reads_however_many_they_are(
    desk: Desk,
    exam: Exam,
    world: World,
    teacher: User,
    django_assert_num_queries: DjangoAssertNumQueries,
    count: int,
) -> None:
    submissions = []
    for _ in range(count):
        person = factories.student(world.school)
        factories.enrolment(person, world.school_class)
        submissions.append(sit(exam, person))
        mark(submissions[-1], desk.question, "1", by=teacher)
    with django_assert_num_queries(8):  # session, person, school; exam, results, papers, answers, who marked
        page = desk.open()
    assert page.count('class="card answer"') == count
    # the same eight; whom the teacher marks, attempts, submissions, clock; results, attempts, classes, events; begin and commit
    with django_assert_num_queries(8 + 8 + 2):
        desk.save(page, dict.fromkeys(submissions, "2"))
    assert Result.objects.filter(version=3).count() == count


def test_the_mark_sheet_leads_to_the_answers_behind_a_column(
    client: Client, exam: Exam, world: World, student: User, teacher: User, admin: User
) -> None:
    link = f'href="/exams/marking/{exam.pk}/"'
    found = {}
    for person in (teacher, admin):
        client.force_login(person)
        found[person.username] = link in client.get(f"/marksheets/{world.sheet.pk}/").content.decode()
    assert found == {"teacher": True, "admin": False}


def test_only_teachers_are_led_to_the_marking(
    client: Client, student: User, teacher: User, admin: User
) -> None:
    link = '<a href="/exams/marking/"'
    seen = {}
    for person, path in ((student, "/exams/"), (teacher, "/marksheets/"), (admin, "/marksheets/")):
        client.force_login(person)
        seen[person.username] = link in client.get(path).content.decode()
    assert seen == {"student": False, "teacher": True, "admin": False}
