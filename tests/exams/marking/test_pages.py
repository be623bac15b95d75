"""The pages on which teachers mark, as HTML: who finds them, what they cost, and that nothing typed is ever lost."""

import html
import re
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from uuid_utils.compat import uuid7

from exams.models import Exam, Result, Submission
from exams.queries import marking
from gradebook.models import User
from tests import factories
from tests.exams.marking.essays import STORM, essay_exam, essays_of, mark, points_given, sit, stands
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)

PEOPLE = ["teacher", "second_teacher", "other_teacher", "other_school_teacher"]
PEOPLE += ["student", "other_student", "admin", "nobody"]
MARKERS = {"teacher": 200, "second_teacher": 200, "nobody": 302}


class Desk:
    """One exam's page, as a browser without scripts has it."""

    def __init__(self, client: Client, exam: Exam, person: User) -> None:
        client.force_login(person)
        self.client = client
        self.path = f"/exams/marking/{exam.pk}/"
        self.question, self.second = essays_of(exam)

    def open(self, question: str | None = None, **query: Any) -> str:
        response = self.client.get(self.path, {"question": question or self.question, **query})
        assert response.status_code == 200
        return response.content.decode()

    def fields(self, page: str) -> dict[str, str]:
        """Every field of the page's form with its value."""
        inputs = re.findall(r"<input [^>]*>", page)
        named = {re.search(r'name="([^"]*)"', each): re.search(r'value="([^"]*)"', each) for each in inputs}
        return {name[1]: html.unescape(value[1]) for name, value in named.items() if name and value}

    def save(self, page: str, typed: dict[Submission, str], **headers: Any) -> Any:
        """Send the form of a page with these points typed into it."""
        fields = self.fields(page) | {f"points-{each.pk}": text for each, text in typed.items()}
        return self.client.post(f"{self.path}?question={self.question}&page=1", fields, **headers)


@pytest.fixture
def desk(client: Client, exam: Exam, teacher: User) -> Desk:
    return Desk(client, exam, teacher)


@pytest.fixture
def others_submission(exam: Exam, other_student: User) -> Submission:
    return sit(exam, other_student, first="Nothing happened.")


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


def test_points_are_saved_and_the_page_shows_who_gave_them(
    desk: Desk, submission: Submission, others_submission: Submission, teacher: User
) -> None:
    answer = desk.save(desk.open(), {submission: "2,5"})

    assert (answer.status_code, answer.headers["Location"]) == (
        302,
        f"{desk.path}?question={desk.question}&page=1",
    )
    page = desk.client.get(answer.headers["Location"]).content.decode()
    assert "Points for 1 answer saved." in page
    assert page.count(">Saved</span>") == 1
    assert f"given by <bdi>{teacher.full_name}</bdi>" in page
    assert desk.fields(page)[f"points-{submission.pk}"] == "2.5"
    assert page.index("Nothing happened.") < page.index(STORM)  # what still waits comes first
    assert stands(submission) == ("needs_marking", "needs_marking", Decimal("3.5"), 2)
    assert stands(others_submission)[3] == 1


def test_points_are_written_in_the_readers_decimals(desk: Desk, submission: Submission) -> None:
    german = {"Accept-Language": "de"}
    desk.save(desk.open(), {submission: "2,5"}, headers=german)
    page = desk.client.get(desk.path, {"question": desk.question}, headers=german).content.decode()
    assert desk.fields(page)[f"points-{submission.pk}"] == "2,5"


def test_rows_that_cannot_be_saved_keep_what_was_typed_and_the_others_are_saved(
    desk: Desk, submission: Submission, others_submission: Submission
) -> None:
    typed = {submission: '4,5 <b>"', others_submission: "4"}

    answer = desk.save(desk.open(), typed)

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Points are a number, for example 2.5." in page
    assert desk.fields(page)[f"points-{submission.pk}"] == '4,5 <b>"'
    assert '<b>"' not in page
    assert (page.count('aria-invalid="true"'), page.count("autofocus"), page.count(">Not saved</span>")) == (
        1,
        1,
        1,
    )
    assert [stands(each)[2] for each in (submission, others_submission)] == [Decimal(1), Decimal(5)]

    corrected = desk.save(page, {submission: "4"})

    assert corrected.status_code == 302
    assert stands(submission)[2] == Decimal(5)


def test_a_row_somebody_else_marked_shows_both_and_is_replaced_only_by_saving_again(
    desk: Desk, submission: Submission, second_teacher: User
) -> None:
    page = desk.open()
    mark(submission, desk.question, "3", by=second_teacher)

    answer = desk.save(page, {submission: "2"})

    page = answer.content.decode()
    assert answer.status_code == 422
    words = "Maija Virtanen gave 3 meanwhile. Save again to give 2 instead; to leave it, type 3."
    assert words in page
    assert desk.fields(page)[f"points-{submission.pk}"] == "2"
    assert stands(submission)[2:] == (Decimal(4), 2)

    assert desk.save(page, {}).status_code == 302
    assert stands(submission)[2:] == (Decimal(3), 3)


def test_a_row_only_looked_at_never_undoes_what_somebody_else_did_to_it(
    desk: Desk, submission: Submission, others_submission: Submission, second_teacher: User
) -> None:
    page = desk.open()
    mark(submission, desk.question, "3", by=second_teacher)

    assert desk.save(page, {others_submission: "1"}).status_code == 302

    assert [stands(each)[2] for each in (submission, others_submission)] == [Decimal(4), Decimal(2)]


def test_an_invalid_row_keeps_its_version_so_that_a_colleague_is_still_noticed(
    desk: Desk, submission: Submission, second_teacher: User
) -> None:
    page = desk.save(desk.open(), {submission: "lots"}).content.decode()
    mark(submission, desk.question, "3", by=second_teacher)

    answer = desk.save(page, {submission: "2"})

    assert "Maija Virtanen gave 3 meanwhile." in answer.content.decode()
    assert stands(submission)[2] == Decimal(4)


def test_an_emptied_field_takes_the_points_back(desk: Desk, submission: Submission, teacher: User) -> None:
    mark(submission, desk.question, "3", by=teacher)
    page = desk.open()

    assert desk.save(page, {submission: ""}).status_code == 302

    assert stands(submission)[2:] == (Decimal(1), 3)
    assert f"taken back by <bdi>{teacher.full_name}</bdi>" in desk.open()


def test_points_for_an_answer_that_is_gone_are_named_and_not_lost_in_silence(
    desk: Desk, submission: Submission
) -> None:
    page = desk.open()
    stranger = uuid7()
    fields = desk.fields(page) | {f"points-{stranger}": "3<", f"version-{stranger}": "1"}

    answer = desk.client.post(f"{desk.path}?question={desk.question}", fields, follow=True)

    assert "“3&lt;” was not saved" in answer.content.decode()
    assert stands(submission)[3] == 1


HOSTILE = {
    "markup": ("</bdi><script>alert(1)</script>", "&lt;/bdi&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
    "template": ("{{ desk }}{% now 'Y' %}", "{{ desk }}{% now &#x27;Y&#x27; %}"),
    "other direction": ("\u202eabc\u202c \u05d0\u05d1", "\u202eabc\u202c \u05d0\u05d1"),
    "beyond the plane": ("\U0001f600" * 3, "\U0001f600" * 3),
    "lines": ("a\n\n  b\t<c", "a\n\n  b\t&lt;c"),
    "one long line": ("x" * 200_000, "x" * 200_000),
    "a list": (["b", "<i>"], "[&quot;&lt;i&gt;&quot;, &quot;b&quot;]"),
    "a map": ({"k": "<v>"}, "{&quot;k&quot;: &quot;&lt;v&gt;&quot;}"),
    "a number": (Decimal("1e30"), "1" + "0" * 30),
    "a boolean": (True, "true"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_a_student_wrote_is_shown_as_text(desk: Desk, exam: Exam, student: User, name: str) -> None:
    answer, shown = HOSTILE[name]
    sit(exam, student, first=answer)
    assert f'<bdi class="answer__text">{shown}</bdi>' in desk.open()


@pytest.mark.parametrize("typed", ["\0", "\ud83d", "9" * 100_000, "<script>", "{{ x }}", "\u202e1"])
def test_whatever_a_teacher_types_is_refused_in_words(desk: Desk, submission: Submission, typed: str) -> None:
    path = f"{desk.path}?question={desk.question}"
    body = f"points-{submission.pk}=".encode() + _quote(typed)
    answer = desk.client.post(path, body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 422
    assert "Points are a number" in answer.content.decode()
    assert "<script>" not in answer.content.decode()
    assert stands(submission)[3] == 1


def _quote(text: str) -> bytes:
    return b"".join(b"%%%02X" % byte for byte in text.encode("utf-8", "surrogatepass"))


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
    # the same eight; whom the teacher marks, attempts, submissions, clock; results, attempts, events; begin and commit
    with django_assert_num_queries(8 + 7 + 2):
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
