"""Adding up: exactly, rounded once, and told question by question."""

from decimal import Decimal
from typing import Any

import pytest

from exams.grading import BrokenKey, grade, read_key
from exams.paper import freeze
from tests.factories import papers

THIRD = {"kind": "matching", "pairs": {"a": "1", "b": "2", "c": "3"}}


def test_score_is_added_up_exactly_and_rounded_once() -> None:
    key = read_key({name: THIRD | {"points": "1"} for name in "xyz"})

    found = grade(key, {name: {"a": "1"} for name in "xyz"})

    assert [question.points for question in found.questions.values()] == [Decimal("0.333")] * 3
    assert found.score == Decimal(1)


@pytest.mark.parametrize(
    ("points", "worth", "score"),
    [
        ("0.001", "50", "0.001"),
        ("0.003", "50", "0.002"),
        ("0.001", "49.99999", "0"),
        ("0.005", "10", "0.001"),
    ],
)
def test_score_is_rounded_half_up(points: str, worth: str, score: str) -> None:
    entry = {"kind": "single_choice", "fractions": {"a": worth, "b": "100"}, "points": points}

    assert grade(read_key({"q": entry}), {"q": "a"}).score == Decimal(score)


def test_grade_of_every_kind_answered_rightly() -> None:
    drafts = papers.questions()
    frozen = freeze(drafts)
    answers = {name: papers.right_answer(entry) for name, entry in frozen.key.items()}

    found = grade(read_key(frozen.key), answers)

    assert (found.score, found.max_points, found.state) == (Decimal(6), Decimal(7), "needs_marking")
    assert [found.questions[str(draft.id)].state for draft in drafts] == ["right"] * 6 + ["needs_marking"]


def test_grade_of_nothing_at_all_is_zero() -> None:
    found = grade(read_key(freeze(papers.questions()).key), {})

    assert (found.score, found.state) == (Decimal(0), "graded")
    assert {question.state for question in found.questions.values()} == {"blank"}


def test_breakdown_names_points_as_text_and_unknown_questions() -> None:
    key = read_key({"q": THIRD | {"points": "1.50"}})
    answers: dict[str, Any] = {"q": {"a": "1"}, "zz": 1, "y" * 100: None}

    assert grade(key, answers).breakdown() == {
        "questions": {"q": {"state": "partial", "points": "0.5", "max_points": "1.5"}},
        "ignored": ["y" * 60, "zz"],
    }


def test_breakdown_stays_small_however_much_is_unknown() -> None:
    found = grade(
        read_key({"q": {"points": "1", "kind": "essay"}}), {f"{number:04}": "x" for number in range(1000)}
    )

    assert found.breakdown()["ignored"] == [f"{number:04}" for number in range(20)]


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"points": "1"},
        {"points": "1", "kind": "cloze"},
        {"points": "x", "kind": "essay"},
        {"points": "1", "kind": "single_choice"},
        {"points": "1", "kind": "single_choice", "fractions": {"a": "x"}},
        {"points": "1", "kind": "multiple_choice", "fractions": {"a": "0"}},
        {"points": "1", "kind": "numeric", "ranges": [["1"]]},
        {"points": "1", "kind": "matching", "pairs": {}},
        {"points": "1", "kind": "true_false", "fractions": {"true": "100"}},
    ],
)
def test_broken_key_is_refused_by_name_before_anything_is_graded(entry: dict[str, Any]) -> None:
    with pytest.raises(BrokenKey, match=r"^Question q: "):
        read_key({"q": entry})


def test_key_without_questions_is_broken() -> None:
    with pytest.raises(BrokenKey, match=r"^It has no questions\.$"):
        read_key({})
