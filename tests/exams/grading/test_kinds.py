"""What an answer earns, kind by kind."""

from decimal import Decimal
from typing import Any

import pytest

from exams.grading import Grade, QuestionGrade, grade, read_key
from exams.grading.grade import QuestionState

UNREADABLE = "This answer is not in a form this question can read."


def judged(entry: dict[str, Any], answer: Any, points: str = "1") -> QuestionGrade:
    return graded(entry, answer, points).questions["q"]


def graded(entry: dict[str, Any], answer: Any, points: str = "1") -> Grade:
    return grade(read_key({"q": {"points": points} | entry}), {"q": answer})


def outcome(entry: dict[str, Any], answer: Any) -> tuple[QuestionState, Decimal]:
    found = judged(entry, answer)
    return found.state, found.points


SINGLE = {"kind": "single_choice", "fractions": {"right": "100", "half": "50", "wrong": "0", "trap": "-25"}}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("right", ("right", Decimal(1))),
        ("half", ("partial", Decimal("0.5"))),
        ("wrong", ("wrong", Decimal(0))),
        ("trap", ("wrong", Decimal(0))),
        ("other", ("unreadable", Decimal(0))),
        (["right"], ("unreadable", Decimal(0))),
        (1, ("unreadable", Decimal(0))),
        (True, ("unreadable", Decimal(0))),
        ({"right": "right"}, ("unreadable", Decimal(0))),
        (None, ("blank", Decimal(0))),
        ("", ("blank", Decimal(0))),
        (" ", ("blank", Decimal(0))),
        ([], ("blank", Decimal(0))),
        ({}, ("blank", Decimal(0))),
    ],
)
def test_single_choice_earns_what_the_choice_is_worth(answer: Any, expected: tuple[str, Decimal]) -> None:
    assert outcome(SINGLE, answer) == expected


THIRDS = {
    "kind": "multiple_choice",
    "fractions": {"a": "33.33333", "b": "33.33333", "c": "33.33333", "x": "-33.33333", "y": "-100"},
}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (["a", "b", "c"], ("right", Decimal(1))),
        (["c", "a", "b", "a"], ("right", Decimal(1))),
        (["a", "b"], ("partial", Decimal("0.667"))),
        (["a"], ("partial", Decimal("0.333"))),
        (["a", "x"], ("wrong", Decimal(0))),
        (["a", "b", "x"], ("partial", Decimal("0.333"))),
        (["a", "b", "c", "x"], ("partial", Decimal("0.667"))),
        (["a", "b", "c", "y"], ("wrong", Decimal(0))),
        (["a", "b", "c", "x", "y"], ("wrong", Decimal(0))),
        (["x"], ("wrong", Decimal(0))),
        ("a", ("unreadable", Decimal(0))),
        ([1], ("unreadable", Decimal(0))),
        ([["a"]], ("unreadable", Decimal(0))),
        ({"a": "a"}, ("unreadable", Decimal(0))),
    ],
)
def test_multiple_choice_adds_and_subtracts_and_stops_at_zero(
    answer: Any, expected: tuple[str, Decimal]
) -> None:
    assert outcome(THIRDS, answer) == expected


def test_multiple_choice_leaves_out_choices_it_does_not_have_and_says_so() -> None:
    assert judged(THIRDS, ["a", "b", "c", "no", "nor"]) == QuestionGrade(
        "right", Decimal(1), Decimal(1), "Not counted: 2 choices this question does not have."
    )


def test_three_times_a_third_is_full_marks_of_any_points() -> None:
    assert judged(THIRDS, ["a", "b", "c"], points="7.5").points == Decimal("7.5")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (False, ("right", Decimal(1))),
        (True, ("wrong", Decimal(0))),
        ("false", ("unreadable", Decimal(0))),
        (0, ("unreadable", Decimal(0))),
        (1, ("unreadable", Decimal(0))),
        (None, ("blank", Decimal(0))),
    ],
)
def test_true_false_reads_booleans(answer: Any, expected: tuple[str, Decimal]) -> None:
    assert outcome({"kind": "true_false", "fractions": {"true": "0", "false": "100"}}, answer) == expected


RANGES = {
    "kind": "numeric",
    "ranges": [["3.141", "3.142", "100"], ["3", "4", "50"], ["-5", "-5", "25"], ["9", "9", "0"]],
}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Decimal("3.1415"), ("right", Decimal(1))),
        (Decimal("3.141"), ("right", Decimal(1))),  # both ends are inside
        (Decimal("3.142"), ("right", Decimal(1))),
        (Decimal("3.1420000000000000000000000000000000000000001"), ("partial", Decimal("0.5"))),
        (3, ("partial", Decimal("0.5"))),
        (4, ("partial", Decimal("0.5"))),
        (-5, ("partial", Decimal("0.25"))),
        (9, ("wrong", Decimal(0))),
        (5, ("wrong", Decimal(0))),
        ("3.1415", ("right", Decimal(1))),
        ("3,1415", ("right", Decimal(1))),
        (" 3.1415 ", ("right", Decimal(1))),
        ("31415e-4", ("right", Decimal(1))),
        ("\u22125", ("partial", Decimal("0.25"))),
        ("about 3", ("unreadable", Decimal(0))),
        (True, ("unreadable", Decimal(0))),
        (["3"], ("unreadable", Decimal(0))),
    ],
)
def test_numeric_earns_the_best_range_it_lies_in(answer: Any, expected: tuple[str, Decimal]) -> None:
    assert outcome(RANGES, answer) == expected


CAPITALS = {
    "kind": "short_text",
    "is_case_sensitive": False,
    "patterns": [["Paris", "100"], ["Par*", "50"], ["*", "0"]],
}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Paris", ("right", Decimal(1))),
        ("  pARIS\n", ("right", Decimal(1))),
        ("Paris, France", ("partial", Decimal("0.5"))),
        ("Rome", ("wrong", Decimal(0))),
        (["Paris"], ("unreadable", Decimal(0))),
        (True, ("unreadable", Decimal(0))),
        ("x" * 2_001, ("unreadable", Decimal(0))),
    ],
)
def test_short_text_earns_the_best_pattern_it_matches(answer: Any, expected: tuple[str, Decimal]) -> None:
    assert outcome(CAPITALS, answer) == expected


def test_short_text_minds_letter_case_when_told_to() -> None:
    element = {"kind": "short_text", "is_case_sensitive": True, "patterns": [["Co", "100"]]}

    assert [outcome(element, text)[0] for text in ("Co", "CO", " Co ")] == ["right", "wrong", "right"]


def test_short_text_reads_a_number_as_it_is_written() -> None:
    year = {"kind": "short_text", "is_case_sensitive": False, "patterns": [["1822", "100"], ["0.5", "50"]]}

    assert [outcome(year, answer)[0] for answer in (1822, Decimal("0.5"), 1823)] == [
        "right",
        "partial",
        "wrong",
    ]


PAIRS = {"kind": "matching", "pairs": {"fr": "paris", "it": "rome", "va": "rome"}}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"fr": "paris", "it": "rome", "va": "rome"}, ("right", Decimal(1))),
        ({"fr": "paris", "it": "rome"}, ("partial", Decimal("0.667"))),
        ({"fr": "paris", "it": "paris", "va": "paris"}, ("partial", Decimal("0.333"))),
        ({"fr": "rome"}, ("wrong", Decimal(0))),
        ({"fr": ["paris"]}, ("wrong", Decimal(0))),
        ("paris", ("unreadable", Decimal(0))),
        (["paris"], ("unreadable", Decimal(0))),
    ],
)
def test_matching_earns_a_share_for_each_right_pair(answer: Any, expected: tuple[str, Decimal]) -> None:
    assert outcome(PAIRS, answer) == expected


def test_matching_leaves_out_prompts_it_does_not_have_and_says_so() -> None:
    answer = {"fr": "paris", "it": "rome", "va": "rome", "sm": "rome"}

    assert judged(PAIRS, answer).note == "Not counted: 1 prompt this question does not have."


@pytest.mark.parametrize("answer", ["An essay.", 42, ["a"], {"a": "b"}, False])
def test_essay_waits_for_a_person_whatever_it_is(answer: Any) -> None:
    found = graded({"kind": "essay"}, answer, points="10")

    assert (found.state, found.score, found.questions["q"].state) == (
        "needs_marking",
        Decimal(0),
        "needs_marking",
    )


@pytest.mark.parametrize("answer", [None, "", "  \n", [], {}])
def test_essay_left_blank_earns_nothing_without_a_person(answer: Any) -> None:
    found = graded({"kind": "essay"}, answer, points="10")

    assert (found.state, found.score, found.questions["q"].state) == ("graded", Decimal(0), "blank")


def test_unreadable_answer_has_a_note_that_says_so() -> None:
    assert judged(SINGLE, ["right"]) == QuestionGrade("unreadable", Decimal(0), Decimal(1), UNREADABLE)
