"""Points a person gives, put together with what the machine found: one function for a teacher who saves and for a grading done again.

The one thing to know: a mark remembers the version of the result it made. What a teacher saves is judged by the version the page was
based on, question by question; so two teachers at two questions of one attempt do not disturb each other, and a regrade disturbs neither.
"""

import dataclasses
import enum
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from exams.grading.grade import Grade, HandMark, QuestionGrade, State

_FOR_A_PERSON = {"needs_marking", "marked"}
# A mark that was given outlives a grader that learns to call the answer blank.
_NOTHING_FOUND = _FOR_A_PERSON | {"blank"}


class MarkVerdict(enum.Enum):
    """What becomes of points that a teacher wants to give."""

    WRITE = enum.auto()
    UNCHANGED = enum.auto()
    CONFLICT = enum.auto()


def give_points(grade: Grade, marks: Mapping[str, HandMark]) -> Grade:
    """Return the grade with these marks in it, exactly: where a person marks, the machine itself gave nothing.

    A mark that does not fit stays out: one for a question the machine judges, or above the question's points.
    """
    marked = {
        name: _mark(question, marks[name])
        for name, question in grade.questions.items()
        if name in marks and _takes(question, marks[name])
    }
    questions = grade.questions | marked
    gained = sum((marked[name].points - grade.questions[name].points for name in marked), Decimal(0))
    return dataclasses.replace(
        grade, score=grade.score + gained, state=_state(questions), questions=questions
    )


def judge_mark(question: QuestionGrade | None, points: Decimal | None, *, version: int) -> MarkVerdict | None:
    """Decide what a teacher wants, based on a version of the result (None: nobody marks that question by hand).

    Giving what has been given already changes nothing, so a request that is sent again is answered "saved".
    """
    if question is None or question.state not in _FOR_A_PERSON:
        return None
    given = question.by_hand
    if points == (given.points if given else None):
        return MarkVerdict.UNCHANGED
    return MarkVerdict.CONFLICT if given and given.version > version else MarkVerdict.WRITE


def read_hand_marks(breakdown: Mapping[str, Any]) -> dict[str, HandMark]:
    """Return the marks people gave, or took back, by question."""
    entries = breakdown.get("questions", {}).items()
    return {name: _read_mark(entry) for name, entry in entries if "by_hand" in entry}


def read_grade(*, score: Decimal, max_points: Decimal, breakdown: Mapping[str, Any]) -> Grade:
    """Return the grade as it was stored; `Grade.breakdown` of it is the same again."""
    questions = {name: _read_question(entry) for name, entry in breakdown.get("questions", {}).items()}
    return Grade(score, max_points, _state(questions), questions, tuple(breakdown.get("ignored", ())))


def _state(questions: Mapping[str, QuestionGrade]) -> State:
    waits = any(question.state == "needs_marking" for question in questions.values())
    return "needs_marking" if waits else "graded"


def _takes(question: QuestionGrade, mark: HandMark) -> bool:
    if mark.points is None:
        return question.state in _FOR_A_PERSON
    return question.state in _NOTHING_FOUND and 0 <= mark.points <= question.max_points


def _mark(question: QuestionGrade, mark: HandMark) -> QuestionGrade:
    if mark.points is None:
        return dataclasses.replace(question, state="needs_marking", points=Decimal(0), by_hand=mark)
    return dataclasses.replace(question, state="marked", points=mark.points, by_hand=mark)


def _read_question(entry: Mapping[str, Any]) -> QuestionGrade:
    return QuestionGrade(
        state=entry["state"],
        points=Decimal(entry["points"]),
        max_points=Decimal(entry["max_points"]),
        note=entry.get("note", ""),
        by_hand=_read_mark(entry) if "by_hand" in entry else None,
    )


def _read_mark(entry: Mapping[str, Any]) -> HandMark:
    points = Decimal(entry["points"]) if entry["state"] == "marked" else None
    given = entry["by_hand"]
    return HandMark(points, given["by"], given["at"], given["version"])
