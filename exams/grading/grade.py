"""Adding up: what each question earned, exactly, rounded once at the end.

Shares are fractions (a third is a third), so full marks are full marks. The score is rounded half up to a thousandth of a point; the points
shown beside each question are rounded for themselves and need not add up to the last digit.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, Literal

from exams.grading.key import Key
from exams.grading.verdicts import BLANK, VerdictState

State = Literal["graded", "needs_marking"]
QuestionState = VerdictState | Literal["marked"]  # what the machine says, or: a person has given points

MISSING_FILE: Final = "The file this answer names has not arrived."

_NONE = Decimal(0)
_NAMED = 20  # how many unknown question ids a breakdown names


@dataclasses.dataclass(frozen=True, slots=True)
class HandMark:
    """Points a person gave, or took back (`points` is empty): whose id, when (ISO 8601), in which version of the result."""

    points: Decimal | None
    by: str
    at: str
    version: int


@dataclasses.dataclass(frozen=True, slots=True)
class QuestionGrade:
    """What one question earned, and a note for the person who asks why. `marked`: the points are those of `by_hand`."""

    state: QuestionState
    points: Decimal
    max_points: Decimal
    note: str = ""
    by_hand: HandMark | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the entry kept in a result's breakdown; points as text, without needless zeros."""
        entry = {"state": self.state, "points": _plain(self.points), "max_points": _plain(self.max_points)}
        return entry | ({"note": self.note} if self.note else {}) | self._hand_as_json()

    def _hand_as_json(self) -> dict[str, Any]:
        mark = self.by_hand
        return {"by_hand": {"by": mark.by, "at": mark.at, "version": mark.version}} if mark else {}


@dataclasses.dataclass(frozen=True, slots=True)
class Grade:
    """The result. With `needs_marking` the score is what was found so far; the rest waits for a person."""

    score: Decimal
    max_points: Decimal
    state: State
    questions: dict[str, QuestionGrade]
    ignored: tuple[str, ...] = ()

    def breakdown(self) -> dict[str, Any]:
        """Return the JSON object stored with the result; `ignored` names answers to questions the paper does not have."""
        questions = {name: question.as_json() for name, question in self.questions.items()}
        return {"questions": questions, "ignored": [name[:60] for name in self.ignored[:_NAMED]]}


def grade(key: Key, answers: Mapping[str, Any]) -> Grade:
    """Return what the answers earn. Never raises, whatever the answers are."""
    whole, parts = (
        Decimal(0),
        Fraction(0),
    )  # nearly every answer earns all or nothing, and adding fractions is slow
    questions = {}
    for name, question in key.questions.items():
        answer = answers.get(name)
        verdict = BLANK if _is_blank(answer) else question.judge(answer)
        points = _NONE
        if verdict.state == "right":
            whole += question.points
            points = question.points
        elif verdict.state == "partial":
            parts += question.worth * verdict.share
            points = _round(question.worth * verdict.share)
        questions[name] = QuestionGrade(verdict.state, points, question.points, verdict.note)
    waits = any(question.state == "needs_marking" for question in questions.values())
    return Grade(
        score=_round(Fraction(whole) + parts),
        max_points=key.max_points,
        state="needs_marking" if waits else "graded",
        questions=questions,
        ignored=tuple(sorted(answers.keys() - key.questions.keys())),
    )


def note_missing_files(found: Grade, missing: Iterable[str]) -> Grade:
    """Return the grade with a note at these questions, whose answers name a file that is not there. They wait for a person as before."""
    noted = {
        name: dataclasses.replace(found.questions[name], note=MISSING_FILE)
        for name in missing
        if found.questions[name].state
        == "needs_marking"  # a blank answer names nothing, and waits for nobody
    }
    return dataclasses.replace(found, questions=found.questions | noted)


def _is_blank(answer: object) -> bool:
    """Return whether there is nothing to judge; a text of blanks says as little as an empty one."""
    if isinstance(answer, str):
        return not answer.strip()
    return answer is None or answer in ([], {})


def _round(points: Fraction) -> Decimal:
    """Return points, which are never negative, rounded half up to a thousandth."""
    return Decimal((2000 * points.numerator + points.denominator) // (2 * points.denominator)).scaleb(-3)


def _plain(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
