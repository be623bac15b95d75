"""A teacher gives points to answers that only a person can judge: all that can be saved is, in one transaction.

The one thing to know: points are kept with the result they belong to, so whoever grades again finds them (`exams.grading.by_hand`).
When the last question that waits has points, the result is `graded` and its event lets the mark be posted, like any other.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from exams.errors import InvalidPoints
from exams.grading import Grade, HandMark, MarkVerdict, QuestionGrade, give_points, judge_mark, read_grade
from exams.local_time import write_utc
from exams.models import Result
from exams.policies import results_markable_by
from exams.services.results import Change, Finding, lock_changes, write_changes
from gradebook.entries import Entry, check_entry
from gradebook.models import User
from outbox.db import database_now
from outbox.log.publish import Actor
from outbox.models.log import ActorType


class AnswerKey(NamedTuple):
    """One answer: a question in what somebody handed in."""

    submission_id: UUID
    question_id: str


@dataclasses.dataclass(frozen=True, slots=True)
class PointsChange:
    """Points a teacher gives (None: takes back), and the version of the result that the teacher's page showed."""

    key: AnswerKey
    points: Decimal | None
    version: int


@dataclasses.dataclass(frozen=True, slots=True)
class MarkOutcome:
    """What became of each change: every one is in exactly one of the four."""

    saved: list[AnswerKey]
    unchanged: list[AnswerKey]
    conflicts: list[AnswerKey]  # somebody else has marked the answer since
    missing: list[AnswerKey]  # not this teacher's to mark, or not any more


@dataclasses.dataclass(frozen=True, slots=True)
class _Judged:
    """A change with what is decided about it; no verdict where there is nothing of the teacher's to mark."""

    change: PointsChange
    verdict: MarkVerdict | None


@transaction.atomic
def mark_answers(*, changes: Iterable[PointsChange], by: User) -> MarkOutcome:
    """Give points to answers of students this teacher marks; answers are judged one by one, each by the version it is based on.

    Locks the attempts by id, then the results. A change of a result is a new version with its event, `by` the actor. Raises
    `InvalidPoints` before anything is written. Constant number of queries.
    """
    wanted = list({change.key: change for change in changes}.values())
    locked = _lock(wanted, by)
    grades = {key: _read(change.old) for key, change in locked.items() if change.old}
    judged = [_Judged(change, _judge(change, grades.get(change.key.submission_id))) for change in wanted]
    at = write_utc(database_now())
    marks = [each.change for each in judged if each.verdict is MarkVerdict.WRITE]
    write_changes(
        [
            _change(locked[submission_id], grade, given, by=by, at=at)
            for submission_id, grade in grades.items()
            if (given := [mark for mark in marks if mark.key.submission_id == submission_id])
        ],
        by=Actor(ActorType.PERSON, by.pk),
    )
    verdicts = (MarkVerdict.WRITE, MarkVerdict.UNCHANGED, MarkVerdict.CONFLICT, None)
    return MarkOutcome(
        *([each.change.key for each in judged if each.verdict is verdict] for verdict in verdicts)
    )


def _lock(changes: Iterable[PointsChange], by: User) -> Mapping[UUID, Change]:
    """Lock what this teacher may mark among these; return it by submission."""
    asked = results_markable_by(by).filter(pk__in={change.key.submission_id for change in changes})
    mine = asked.exclude(score=None).values_list("pk", "attempt_id")
    return {change.submission.pk: change for change in lock_changes([Finding(*ids) for ids in mine])}


def _read(result: Result) -> Grade:
    assert result.score is not None  # `_lock` leaves failures out, and a failure never replaces a score
    assert result.max_points is not None
    return read_grade(score=result.score, max_points=result.max_points, breakdown=result.breakdown)


def _judge(change: PointsChange, grade: Grade | None) -> MarkVerdict | None:
    question = grade.questions.get(change.key.question_id) if grade else None
    verdict = judge_mark(question, change.points, version=change.version)
    if question is not None and verdict is not None:
        _check(change, question)
    return verdict


def _check(change: PointsChange, question: QuestionGrade) -> None:
    if refused := check_entry(Entry(change.points), max_points=question.max_points):
        raise InvalidPoints(problem=refused.problem)


def _change(locked: Change, grade: Grade, given: Iterable[PointsChange], *, by: User, at: str) -> Change:
    """Return the change that gives these points, in the next version of the result."""
    assert locked.old is not None
    version = locked.old.version + 1
    marks = {mark.key.question_id: HandMark(mark.points, str(by.pk), at, version) for mark in given}
    finding = dataclasses.replace(locked.finding, grade=give_points(grade, marks))
    return dataclasses.replace(locked, finding=finding)
