"""Questions in the admin: what an author fills in becomes options with weights, in their order and their place."""

from decimal import Decimal

import pytest
from django.test import Client

from exams.models import ExamRevision
from exams.services.authoring import list_drafts
from tests.exams.admin.forms import add_question, inline, page, told

pytestmark = pytest.mark.django_db


def worths(revision: ExamRevision) -> dict[str, Decimal]:
    (draft,) = list_drafts(revision)
    return {option.text: option.fraction for option in draft.options}


def test_single_choice_needs_only_a_tick(desk: Client, revision: ExamRevision) -> None:
    add_question(
        desk,
        revision,
        {"text": "Right", "is_right": "on"},
        {"text": "Wrong"},
        {"text": "Half", "fraction": "50"},
    )

    assert worths(revision) == {"Right": Decimal(100), "Wrong": Decimal(0), "Half": Decimal(50)}


def test_multiple_choice_shares_weights_evenly(desk: Client, revision: ExamRevision) -> None:
    ticked = [{"text": text, "is_right": "on"} for text in "abc"]

    add_question(desk, revision, *ticked, {"text": "x"}, {"text": "y"}, kind="multiple_choice")

    third = Decimal("33.33333")
    assert worths(revision) == {"a": third, "b": third, "c": third, "x": Decimal(-50), "y": Decimal(-50)}


def test_multiple_choice_shares_anew_when_a_tick_changes(desk: Client, revision: ExamRevision) -> None:
    add_question(
        desk, revision, {"text": "a", "is_right": "on"}, {"text": "x"}, {"text": "y"}, kind="multiple_choice"
    )
    question = revision.questions.get()
    rows = [
        {
            "id": o.pk,
            "question": question.pk,
            "order": o.position,
            "text": o.text,
            "fraction": f"{o.fraction:f}",
        }
        for o in question.options.all()
    ]
    rows[0]["is_right"] = rows[1]["is_right"] = "on"
    data = {"place": 1, "kind": "multiple_choice", "text": "Which?", "text_format": "plain", "points": "1"}

    desk.post(page("question_change", question.pk), data | inline("options", *rows, initial=3))

    assert worths(revision) == {"a": Decimal(50), "x": Decimal(50), "y": Decimal(-100)}


def test_true_false_is_one_choice_for_its_author(desk: Client, revision: ExamRevision) -> None:
    add_question(desk, revision, kind="true_false", truth="false")

    assert worths(revision) == {"true": Decimal(0), "false": Decimal(100)}


def test_true_false_without_its_truth_is_asked_for_it(desk: Client, revision: ExamRevision) -> None:
    response = add_question(desk, revision, kind="true_false")

    assert "Say whether the statement is true." in response.content.decode()
    assert not revision.questions.exists()


def test_numeric_answer_may_be_one_number(desk: Client, revision: ExamRevision) -> None:
    add_question(
        desk,
        revision,
        {"low": "1822", "is_right": "on"},
        {"low": "1820", "high": "1824", "fraction": "50"},
        kind="numeric",
    )

    options = list(revision.questions.get().options.values_list("low", "high", "fraction"))
    assert [[int(number or 0) for number in row] for row in options] == [[1822, 1822, 100], [1820, 1824, 50]]


def test_answers_are_kept_in_the_order_asked_for(desk: Client, revision: ExamRevision) -> None:
    add_question(
        desk,
        revision,
        {"text": "third", "order": 3},
        {"text": "first", "order": 1, "is_right": "on"},
        {"text": "last"},
        {"text": "second", "order": 2},
    )

    assert list(worths(revision)) == ["first", "second", "third", "last"]


def test_question_goes_to_its_place_and_the_others_move(desk: Client, revision: ExamRevision) -> None:
    for place, text in ((1, "b"), (2, "c"), (1, "a")):
        add_question(desk, revision, text=text, place=place, kind="essay")
    last = revision.questions.get(text="c")
    data = {"place": 1, "kind": "essay", "text": "c", "text_format": "plain", "points": "1"}

    desk.post(page("question_change", last.pk), data | inline("options"))

    assert list(revision.questions.values_list("position", "text")) == [(1, "c"), (2, "a"), (3, "b")]


def test_saving_a_question_says_what_is_still_wrong(desk: Client, revision: ExamRevision) -> None:
    response = add_question(desk, revision, {"text": "a"}, {"text": "b"})

    assert response.headers["Location"] == page("examrevision_change", revision.pk)
    assert "The question “Which?” has no answer worth 100 %." in told(response)
    assert (
        "This question has no answer worth 100 %." in desk.get(response.headers["Location"]).content.decode()
    )
