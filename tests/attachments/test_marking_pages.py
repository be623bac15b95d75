"""What a teacher sees of a photographed answer, and what an administrator does."""

import re
from decimal import Decimal

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from exams.models import Exam
from exams.queries.marking import get_desk
from exams.services.attempts import start_attempt
from exams.services.marking import AnswerKey, PointsChange, mark_answers
from gradebook.models import User
from tests.attachments import pictures
from tests.attachments.senders import Sender, photo_questions, stands
from tests.exams.grading_room import grade_everything

pytestmark = pytest.mark.django_db(transaction=True)


def show(client: Client, sender: Sender, teacher: User, answer: str) -> str:
    """Hand this answer in and return the page on which it is marked."""
    question = str(photo_questions(sender.attempt)[0])
    sender.hand_in({question: answer})
    grade_everything()
    client.force_login(teacher)
    response = client.get(f"/exams/marking/{sender.attempt.exam_id}/", {"question": question})
    assert response.status_code == 200
    return response.content.decode()


def words_of(page: str) -> str:
    """Return the words of the page without its markup, blanks as one."""
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def test_a_photo_is_shown_where_its_answer_is_marked(client: Client, sender: Sender, teacher: User) -> None:
    photo = sender.send_and_render(pictures.photo_with_place())

    page = show(client, sender, teacher, photo.sha256)

    assert f'src="/api/v1/attachments/{photo.pk}/preview"' in page
    assert f"/api/v1/attachments/{photo.pk}/original" not in page
    assert photo.sha256 not in page


def test_the_version_that_was_handed_in_is_shown_and_not_the_latest(
    client: Client, sender: Sender, teacher: User
) -> None:
    first = sender.send_and_render(pictures.jpeg(100, 100))
    second = sender.send_and_render(pictures.jpeg(200, 200))

    page = show(client, sender, teacher, first.sha256)

    assert (str(first.pk) in page, str(second.pk) in page) == (True, False)


def test_a_pdf_is_offered_for_download(client: Client, sender: Sender, teacher: User) -> None:
    pdf = sender.send_and_render(pictures.pdf(3))

    page = show(client, sender, teacher, pdf.sha256)

    assert f'href="/api/v1/attachments/{pdf.pk}/original" download' in page
    assert "Download the PDF, 3 pages" in words_of(page)


def test_a_photo_that_cannot_be_shown_says_why_and_can_be_had(
    client: Client, sender: Sender, teacher: User
) -> None:
    photo = sender.send_and_render(pictures.truncated_jpeg())

    page = show(client, sender, teacher, photo.sha256)

    assert "This photo is damaged and cannot be shown. The file is kept as it was sent" in words_of(page)
    assert f'href="/api/v1/attachments/{photo.pk}/original" download' in page


def test_a_file_that_is_not_there_is_said_to_be_missing(
    client: Client, sender: Sender, teacher: User
) -> None:
    page = show(client, sender, teacher, "<b>0</b>" * 30)

    assert "The file this answer names has not arrived." in words_of(page)
    assert "&lt;b&gt;0&lt;/b&gt;" in page


def test_a_file_that_is_still_being_prepared_says_so(client: Client, sender: Sender, teacher: User) -> None:
    photo = sender.send(pictures.jpeg())

    page = show(client, sender, teacher, photo.sha256)

    assert "The file has arrived and is being prepared for showing." in words_of(page)


def test_points_are_given_to_a_photo_like_to_an_essay(sender: Sender, teacher: User) -> None:
    photo = sender.send_and_render(pictures.jpeg())
    question = str(photo_questions(sender.attempt)[0])
    submission = sender.hand_in({question: photo.sha256})
    grade_everything()
    assert submission.result.state == "needs_marking"

    change = PointsChange(AnswerKey(submission.pk, question), Decimal("3.5"), 1)
    outcome = mark_answers(changes=[change], by=teacher)

    submission.result.refresh_from_db()
    assert outcome.saved == [change.key]
    assert (submission.result.state, str(submission.result.score)) == ("graded", "3.500")


def test_files_cost_one_read_however_many_there_are(
    sender: Sender,
    exam: Exam,
    teacher: User,
    other_student: User,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    question = str(photo_questions(sender.attempt)[0])
    theirs = Sender(start_attempt(exam_id=exam.pk, student_id=other_student.pk).attempt)
    for count, each in enumerate((sender, theirs), start=1):
        each.hand_in({question: each.send(pictures.jpeg(64, 64 * count)).sha256})
        grade_everything()
        with django_assert_num_queries(5):
            desk = get_desk(exam_id=exam.pk, by=teacher, question_id=question)
        assert [bool(answer.file) for answer in desk.answers] == [True] * count


def test_an_administrator_reads_what_a_decoder_said(client: Client, sender: Sender, admin: User) -> None:
    bad = stands(sender.send_and_render(pictures.truncated_jpeg()))
    good = sender.send_and_render(pictures.jpeg(), second=True)
    client.force_login(admin)

    listed = client.get("/admin/exams/attachmentversion/")
    shown_bad = client.get(f"/admin/exams/attachmentversion/{bad.pk}/change/").content.decode()
    shown_good = client.get(f"/admin/exams/attachmentversion/{good.pk}/change/").content.decode()

    assert listed.status_code == 200
    assert bad.problem in listed.content.decode()
    assert bad.diagnosis.splitlines()[0][:20] in shown_bad
    assert f"/api/v1/attachments/{good.pk}/thumbnail" in shown_good
