"""What is said to whom: to the answer that was given, as it was judged, and to everybody."""

import json
from decimal import Decimal
from typing import Any

import pytest

from exams.grading.feedback import Feedback, find_feedback
from exams.paper import OptionDraft, freeze
from exams.paper.drafts import Kind
from tests.factories.papers import ALL_KINDS, a_question, option, right_answer


def frozen_entry(kind: Kind, *options: OptionDraft, general: str = "") -> dict[str, Any]:
    """The entry of a question in the key as the database gives it back: it sorts the names of objects."""
    (entry,) = freeze([a_question(kind, *options, feedback=general)]).key.values()
    stored: dict[str, Any] = json.loads(json.dumps(entry, sort_keys=True))
    return stored


def said(entry: dict[str, Any], answer: Any) -> list[str]:
    found = find_feedback(entry, answer)
    return [*found.to_answer, found.general] if found else []


@pytest.mark.parametrize("kind", [*ALL_KINDS, "upload"])
def test_what_is_said_to_everybody_is_said_whatever_was_answered(kind: Kind) -> None:
    entry = frozen_entry(kind, general="See page 3.")
    for answer in (right_answer(entry), None, "", "x", 7, True, ["x", 1], {"x": "y"}):
        assert find_feedback(entry, answer) == Feedback((), "See page 3.")


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_nothing_is_kept_or_said_where_the_author_says_nothing(kind: Kind) -> None:
    entry = frozen_entry(kind)
    assert "feedback" not in entry
    assert find_feedback(entry, right_answer(entry)) is None


def test_choices_are_answered_in_the_authors_order() -> None:
    texts = "zyxab"
    options = [
        option(text, 50 if n < 2 else -50, feedback=text * (text != "x")) for n, text in enumerate(texts)
    ]
    frozen = freeze([a_question("multiple_choice", *options)])
    ids = [choice["id"] for choice in frozen.paper[0]["choices"]]
    (entry,) = frozen.key.values()
    assert said(entry, sorted(ids)) == ["z", "y", "a", "b", ""]
    assert said(entry, [ids[3], "unknown", 5]) == ["a", ""]
    assert said(entry, ids[3]) == []


def test_single_choice_and_true_false_answer_to_what_was_chosen() -> None:
    frozen = freeze(
        [a_question("single_choice", option("a", 100, feedback="Yes."), option("b", feedback="No."))]
    )
    first, second = (choice["id"] for choice in frozen.paper[0]["choices"])
    (entry,) = frozen.key.values()
    assert [said(entry, answer) for answer in (first, second, [first], None)] == [
        ["Yes.", ""],
        ["No.", ""],
        [],
        [],
    ]

    truth = frozen_entry("true_false", option("true", 100, feedback="Yes."), option("false", feedback="No."))
    assert [said(truth, answer) for answer in (True, False, "true", 1)] == [["Yes.", ""], ["No.", ""], [], []]


def test_number_is_answered_by_the_range_it_was_judged_by() -> None:
    entry = frozen_entry(
        "numeric",
        option(fraction=50, low=Decimal(3), high=Decimal(4), feedback="Roughly."),
        option(fraction=100, low=Decimal("3.1"), high=Decimal("3.2"), feedback="Yes."),
        option(fraction=0, low=Decimal(22), high=Decimal(22), feedback="Divide by seven."),
    )
    answers = ("3,14", Decimal("3.5"), "22", "5", "many", None)
    assert [said(entry, answer) for answer in answers] == [
        ["Yes.", ""],
        ["Roughly.", ""],
        ["Divide by seven.", ""],
        [],
        [],
        [],
    ]


def test_short_text_is_answered_by_the_pattern_it_was_judged_by() -> None:
    entry = frozen_entry(
        "short_text",
        option("*", 0, feedback="A town."),
        option("Pari*", 50, feedback="Nearly."),
        option("Paris", 100, feedback="Yes."),
    )
    answers = ("paris", "Parigi", "Rome", "x" * 3000, ["Paris"])
    assert [said(entry, answer) for answer in answers] == [
        ["Yes.", ""],
        ["Nearly.", ""],
        ["A town.", ""],
        [],
        [],
    ]


def test_pairs_are_answered_where_they_are_right() -> None:
    pairs = {"France": "Paris", "Italy": "Rome"}
    options = [option(left, match_text=right, feedback=f"{left}!") for left, right in pairs.items()]
    frozen = freeze([a_question("matching", *options, option("", match_text="Oslo", feedback="Unsaid."))])
    (entry,) = frozen.key.values()
    prompts = {each["text"]: each["id"] for each in frozen.paper[0]["prompts"]}
    right = entry["pairs"]
    half = {prompts["France"]: right[prompts["France"]], prompts["Italy"]: right[prompts["France"]]}
    assert [said(entry, answer) for answer in (right, half, {}, "x")] == [
        ["France!", "Italy!", ""],
        ["France!", ""],
        [],
        [],
    ]


def test_feedback_is_clean_and_never_in_the_paper() -> None:
    loud = "<b>Yes</b><script>alert(1)</script>"
    options = (option("a", 100, feedback=loud), option("b"))
    frozen = freeze([a_question("single_choice", *options, feedback=loud, text_format="html")])
    (entry,) = frozen.key.values()
    assert said(entry, entry["feedback"]["answers"][0][0]) == ["<b>Yes</b>", "<b>Yes</b>"]
    assert "Yes" not in json.dumps(frozen.paper)
