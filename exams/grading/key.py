"""The key as the grader uses it: read once for a revision, then applied to any number of answers.

`exams.paper.freeze` writes what is read here; the shapes are in docs/answers.md.
"""

import dataclasses
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from exams.grading.kinds import KINDS, Judge


class BrokenKey(Exception):
    """The key of a revision is not one `exams.paper` could have written: no answer can be graded by it."""


@dataclasses.dataclass(frozen=True, slots=True)
class KeyQuestion:
    """One question: its points, and the function that judges an answer to it."""

    points: Decimal
    worth: Fraction  # the points again, for exact arithmetic
    judge: Judge


@dataclasses.dataclass(frozen=True, slots=True)
class Key:
    """Everything grading knows about a revision. Safe to keep and share: nothing in it changes."""

    questions: dict[str, KeyQuestion]
    max_points: Decimal
    file_questions: tuple[str, ...] = ()  # whose answers name a file


def read_key(stored: Mapping[str, Any]) -> Key:
    """Return the key of a published revision (`ExamRevision.key`). Raises `BrokenKey`, naming the question.

    None can be published without questions; by an empty key everybody would have all of no points.
    """
    if not stored:
        raise BrokenKey("It has no questions.")
    questions = {name: _read_question(name, entry) for name, entry in stored.items()}
    files = tuple(name for name, entry in stored.items() if entry["kind"] == "upload")
    return Key(questions, sum((question.points for question in questions.values()), Decimal(0)), files)


def _read_question(name: str, entry: Mapping[str, Any]) -> KeyQuestion:
    try:
        points = Decimal(entry["points"])
        return KeyQuestion(points, Fraction(points), KINDS[entry["kind"]](entry))
    except (KeyError, TypeError, ValueError, InvalidOperation, ZeroDivisionError) as error:
        raise BrokenKey(f"Question {name}: {type(error).__name__}: {error}") from error
