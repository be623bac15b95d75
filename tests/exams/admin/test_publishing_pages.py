"""Publishing in the admin: what is refused, what is frozen, and the preview of it."""

from decimal import Decimal

import pytest
from django.test import Client

from exams.models import ExamRevision, Question
from exams.services.authoring import list_drafts
from gradebook.models import User
from tests import factories
from tests.exams.admin.forms import add_question, inline, page, told
from tests.factories.papers import option
from tests.people import World

pytestmark = pytest.mark.django_db


def test_publishing_names_every_problem_and_changes_nothing(desk: Client, revision: ExamRevision) -> None:
    add_question(desk, revision, {"text": "a"}, {"text": "b"}, title="One")
    add_question(desk, revision, title="Two", kind="numeric", place=2)

    response = desk.post(page("examrevision_publish", revision.pk))

    assert told(response)[-2:] == [
        "Question 1 (One): has no answer worth 100 %.",
        "Question 2 (Two): has no answer worth 100 %.",
    ]
    revision.refresh_from_db()
    assert revision.published_at is None


def test_publishing_freezes_paper_and_key(desk: Client, revision: ExamRevision, admin: User) -> None:
    add_question(desk, revision, {"text": "a", "is_right": "on"}, {"text": "b"}, points="2.5")

    response = desk.post(page("examrevision_publish", revision.pk))

    revision.refresh_from_db()
    question = revision.questions.get()
    assert told(response)[-1] == "Published: 2.5 points. It never changes from here on."
    assert (revision.published_by, revision.max_points) == (admin, Decimal("2.5"))
    (entry,) = revision.paper or []
    assert (entry["id"], entry["points"], [choice["text"] for choice in entry["choices"]]) == (
        str(question.pk),
        2.5,
        ["a", "b"],
    )
    assert (revision.key or {})[entry["id"]]["fractions"] == {
        choice["id"]: worth for choice, worth in zip(entry["choices"], ("100", "0"), strict=True)
    }


def test_empty_revision_is_not_published(desk: Client, revision: ExamRevision) -> None:
    assert told(desk.post(page("examrevision_publish", revision.pk))) == ["The revision has no questions."]


def test_published_revision_is_shown_and_never_changed(desk: Client, world: World) -> None:
    revision = factories.published_revision()
    question = revision.questions.all()[0]

    assert (
        "Published: it never changes." in desk.get(page("examrevision_change", revision.pk)).content.decode()
    )
    assert desk.post(page("examrevision_change", revision.pk), {"instructions": "x"}).status_code == 403
    assert desk.post(page("examrevision_delete", revision.pk), {"post": "yes"}).status_code == 403
    assert desk.post(page("question_change", question.pk), {"text": "x"}).status_code == 403
    assert desk.post(page("question_delete", question.pk), {"post": "yes"}).status_code == 403
    assert told(desk.post(page("examrevision_publish", revision.pk)))[-1].startswith(
        "A published revision never changes"
    )
    assert add_question(desk, revision, kind="essay").headers["Location"] == page("examrevision_changelist")
    assert revision.questions.count() == 7


def test_question_saved_after_the_publication_is_refused_in_words(
    desk: Client, revision: ExamRevision
) -> None:
    """The page was opened before the publication; the row is locked and looked at again when it is saved."""
    add_question(desk, revision, kind="essay")
    question = revision.questions.get()
    request_page = page("question_change", question.pk)
    assert desk.get(request_page).status_code == 200
    desk.post(page("examrevision_publish", revision.pk))

    data = {"place": 1, "kind": "essay", "text": "Another", "text_format": "plain", "points": "1"}
    response = desk.post(request_page, data | inline("options"))

    assert response.status_code == 403
    assert Question.objects.get(pk=question.pk).text == "Which?"


def test_published_revision_is_corrected_by_a_copy(desk: Client, world: World) -> None:
    revision = factories.published_revision()

    response = desk.post(page("examrevision_copy", revision.pk))

    copied = ExamRevision.objects.get(number=2)
    assert response.headers["Location"] == page("examrevision_change", copied.pk)
    assert copied.published_at is None
    texts = [[q.text for q in list_drafts(each)] for each in (revision, copied)]
    assert texts[0] == texts[1]
    assert not {q.id for q in list_drafts(revision)} & {q.id for q in list_drafts(copied)}


def test_preview_shows_the_paper_and_for_staff_the_key(desk: Client, world: World) -> None:
    choices = [option("<b>bold</b><script>alert(1)</script>", 100), option("<i>other</i>")]
    question = factories.a_question(
        "single_choice", *choices, text="<p onclick=x>Which?</p>", text_format="html"
    )
    revision = factories.draft_revision(questions=[question, *factories.questions()])

    response = desk.get(page("examrevision_preview", revision.pk))

    (shown, *_) = response.context["paper"]
    assert shown["text"] == "<p>Which?</p>"
    assert [choice["text"] for choice in shown["choices"]] == ["<b>bold</b>", "<i>other</i>"]
    content = response.content.decode()
    assert "<script>alert" not in content
    assert "France → Paris" in content
    assert "3.13 to 3.15" in content


def test_preview_of_a_broken_question_says_what_is_wrong(desk: Client, world: World) -> None:
    revision = factories.draft_revision(questions=[factories.a_question("numeric", option("x"))])

    content = desk.get(page("examrevision_preview", revision.pk)).content.decode()

    assert "has an answer without a number." in content
    assert "no number" in content
