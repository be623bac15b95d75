"""The form points are typed into: what can be saved is, and nothing typed is ever lost, whatever it is."""

from decimal import Decimal

import pytest
from django.test import Client
from uuid_utils.compat import uuid7

from exams.models import Exam, Submission
from gradebook.models import User
from tests.exams.marking.desk import Desk
from tests.exams.marking.essays import STORM, mark, sit, stands

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def desk(client: Client, exam: Exam, teacher: User) -> Desk:
    return Desk(client, exam, teacher)


@pytest.fixture
def others_submission(exam: Exam, other_student: User) -> Submission:
    return sit(exam, other_student, first="Nothing happened.")


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
