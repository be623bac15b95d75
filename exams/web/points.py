"""The form a teacher types points into: what was posted, read by the mark sheet's own rule, and every row as the page draws it again.

The one thing to know: nothing typed is lost. A row that could not be saved comes back with what was typed and why; it keeps the version
it was based on, so that what somebody else saves meanwhile is still noticed.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from uuid import UUID

from exams.queries.marking import AnswerToMark
from exams.services.marking import AnswerKey, PointsChange
from gradebook.entries import DecimalSign, Refused, check_entry, plain, read_entry

POINTS, SHOWN, VERSION = "points-", "shown-", "version-"
MOST_DIGITS = 9


@dataclasses.dataclass(frozen=True, slots=True)
class Typed:
    """One row as it was posted: what was typed, what the page had shown there, and the version it was based on."""

    text: str
    shown: str
    version: int

    @property
    def is_change(self) -> bool:
        """Return whether the teacher has touched the row; one only looked at is nobody's business."""
        return self.text.strip() != self.shown.strip()


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One answer as the page draws it."""

    answer: AnswerToMark
    typed: Typed
    problem: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """What the posted rows ask for: changes to save, and why others cannot be."""

    changes: list[PointsChange]
    problems: dict[UUID, str]


def read_posted(form: Mapping[str, str]) -> dict[UUID, Typed]:
    """Return the rows of a posted form by submission; fields that are none of ours are passed over."""
    rows = {}
    for name in form:
        if name.startswith(POINTS):
            with suppress(ValueError):
                rows[UUID(name.removeprefix(POINTS))] = _read_row(form, name.removeprefix(POINTS))
    return rows


def read_points(text: str, *, max_points: Decimal, decimal_sign: DecimalSign) -> Decimal | str | None:
    """Return the points typed, None for an empty field, or a sentence that says why it is neither."""
    entry = read_entry(text, decimal_sign=decimal_sign)
    refused = entry if isinstance(entry, Refused) else check_entry(entry, max_points=max_points)
    if refused is None and isinstance(entry, tuple) and not entry.code:
        return entry.value
    problem, detail = (refused.problem, refused.detail) if refused else ("not_a_mark", "")
    words = {
        "not_a_mark": f"Points are a number, for example 2{decimal_sign}5.",
        "above_max": f"This question gives at most {_write(max_points, decimal_sign)}.",
        "below_zero": "Points are not below 0.",
        "too_many_decimals": "At most three decimals; nothing is rounded for you.",
    }
    return words.get(problem, detail)


def read_changes(
    posted: Mapping[UUID, Typed],
    answers: Iterable[AnswerToMark],
    *,
    question_id: str,
    decimal_sign: DecimalSign,
) -> Reading:
    """Return what the touched rows ask for."""
    reading = Reading([], {})
    for answer in answers:
        row = posted[answer.submission_id]
        if not row.is_change:
            continue
        points = read_points(row.text, max_points=answer.max_points, decimal_sign=decimal_sign)
        if isinstance(points, str):
            reading.problems[answer.submission_id] = points
        else:
            key = AnswerKey(answer.submission_id, question_id)
            reading.changes.append(PointsChange(key, points, row.version))
    return reading


def draw(answers: Iterable[AnswerToMark], decimal_sign: DecimalSign) -> list[Row]:
    """Return the rows of a fresh page."""
    return [Row(answer, _fresh(answer, decimal_sign)) for answer in answers]


def draw_again(
    rows: Iterable[Row],
    posted: Mapping[UUID, Typed],
    problems: Mapping[UUID, str],
    conflicts: Collection[UUID],
) -> list[Row]:
    """Return fresh rows with what could not be saved typed into them; saving a conflict again overrules what it now shows."""
    drawn = []
    for row in rows:
        typed = posted[row.answer.submission_id]
        if row.answer.submission_id in conflicts:
            mine = dataclasses.replace(row.typed, text=typed.text)
            drawn.append(Row(row.answer, mine, _name_conflict(row, typed.text.strip())))
        elif problem := problems.get(row.answer.submission_id):
            drawn.append(Row(row.answer, typed, problem))
        else:
            drawn.append(row)
    return drawn


def _read_row(form: Mapping[str, str], name: str) -> Typed:
    version = form.get(VERSION + name, "")
    is_number = version.isascii() and version.isdigit() and len(version) <= MOST_DIGITS
    return Typed(form[POINTS + name], form.get(SHOWN + name, ""), int(version) if is_number else 0)


def _fresh(answer: AnswerToMark, decimal_sign: DecimalSign) -> Typed:
    text = "" if answer.points is None else _write(answer.points, decimal_sign)
    return Typed(text, text, answer.version)


def _name_conflict(row: Row, mine: str) -> str:
    """Say what stands there now (`row` is fresh), and how to go on either way."""
    who, theirs = row.answer.marked_by or "Somebody else", row.typed.shown
    did = f"gave {theirs}" if theirs else "took the points back"
    replace = f"give {mine} instead" if mine else "take that back"
    keep = f"type {theirs}" if theirs else "empty the field"
    return f"{who} {did} meanwhile. Save again to {replace}; to leave it, {keep}."


def _write(points: Decimal, decimal_sign: DecimalSign) -> str:
    return plain(points).replace(".", decimal_sign)
