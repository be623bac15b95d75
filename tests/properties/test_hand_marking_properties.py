"""What holds whatever people give: the sum is exact, nothing of the machine's moves, and grading again finds the same."""

import dataclasses
import json
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from exams.grading import (
    Grade,
    HandMark,
    MarkVerdict,
    QuestionGrade,
    give_points,
    judge_mark,
    read_grade,
    read_hand_marks,
)
from tests.properties.test_grading_properties import graded, sittings

hand_points = st.none() | st.decimals("-1", "10001", places=3)
marks = st.builds(
    HandMark,
    points=hand_points,
    by=st.uuids().map(str),
    at=st.datetimes().map(lambda moment: f"{moment.isoformat()}+00:00"),
    version=st.integers(2, 1_000_000),
)


@st.composite
def marked_sittings(draw: st.DrawFn) -> tuple[Grade, dict[str, HandMark]]:
    """What a machine found in a sitting, and marks for any of its questions, and for some it does not have."""
    found = graded(*draw(sittings()))
    names = st.sampled_from([*found.questions, "no such question"])
    return found, draw(st.dictionaries(names, marks))


def fits(found: Grade, name: str, mark: HandMark) -> bool:
    question = found.questions.get(name)
    if question is None or question.state not in {"needs_marking", "blank"}:
        return False
    if mark.points is None:
        return question.state == "needs_marking"
    return 0 <= mark.points <= question.max_points


@given(marked_sittings())
def test_points_given_add_up_exactly_and_move_nothing_else(
    sitting: tuple[Grade, dict[str, HandMark]],
) -> None:
    found, given_marks = sitting

    marked = give_points(found, given_marks)

    taken = {name: mark for name, mark in given_marks.items() if fits(found, name, mark)}
    assert marked.score == found.score + sum((mark.points or Decimal(0)) for mark in taken.values())
    assert 0 <= marked.score <= marked.max_points == found.max_points
    assert {name: question for name, question in marked.questions.items() if name not in taken} == {
        name: question for name, question in found.questions.items() if name not in taken
    }
    assert {name: marked.questions[name].by_hand for name in taken} == taken
    waits = any(question.state == "needs_marking" for question in marked.questions.values())
    assert marked.state == ("needs_marking" if waits else "graded")


@given(marked_sittings())
def test_grading_again_with_the_points_that_are_kept_finds_the_same(
    sitting: tuple[Grade, dict[str, HandMark]],
) -> None:
    found, given_marks = sitting
    marked = give_points(found, given_marks)
    stored = json.loads(json.dumps(marked.breakdown()))

    again = give_points(found, read_hand_marks(stored))

    assert again == marked
    assert again.breakdown() == stored


@given(marked_sittings())
def test_a_stored_grade_is_read_as_it_was_written(sitting: tuple[Grade, dict[str, HandMark]]) -> None:
    marked = give_points(*sitting)
    stored = json.loads(json.dumps(marked.breakdown()))

    read = read_grade(score=marked.score, max_points=marked.max_points, breakdown=stored)

    assert read.breakdown() == stored
    assert (read.score, read.max_points, read.state) == (marked.score, marked.max_points, marked.state)


@given(marked_sittings(), st.data())
def test_points_come_out_the_same_one_by_one_in_any_order_or_all_at_once(
    sitting: tuple[Grade, dict[str, HandMark]], data: st.DataObject
) -> None:
    found, given_marks = sitting
    one_by_one = found
    for name in data.draw(st.permutations(list(given_marks))):
        one_by_one = give_points(one_by_one, {name: given_marks[name]})

    assert one_by_one == give_points(found, given_marks)


@given(marked_sittings(), marks)
def test_the_last_points_count_and_leave_nothing_of_those_before(
    sitting: tuple[Grade, dict[str, HandMark]], last: HandMark
) -> None:
    found, given_marks = sitting
    for name, before in given_marks.items():
        if fits(found, name, before) and fits(found, name, last) and last.points is not None:
            assert give_points(give_points(found, {name: before}), {name: last}) == give_points(
                found, {name: last}
            )


@given(marks, hand_points, st.integers(0, 1_000_000))
def test_only_who_has_seen_the_newest_points_may_change_them(
    mark: HandMark, wanted: Decimal | None, version: int
) -> None:
    question = dataclasses.replace(_waiting(), by_hand=mark)

    verdict = judge_mark(question, wanted, version=version)

    if wanted == mark.points:
        assert verdict is MarkVerdict.UNCHANGED
    else:
        assert verdict is (MarkVerdict.WRITE if version >= mark.version else MarkVerdict.CONFLICT)


def _waiting() -> QuestionGrade:
    return QuestionGrade("needs_marking", Decimal(0), Decimal(5))
