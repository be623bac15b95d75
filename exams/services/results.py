"""Recording what grading found: results, the attempts' states and their events, each with one statement for a whole batch.

The one thing to know: only what differs is written. A regrade that finds the same leaves no trace, one that fails leaves the old
result where it was, and points that a person gave outlive every regrade.
"""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection

from exams.canonical import write_number
from exams.events import AttemptFact, ClassNamed, GradingFailed, SubmissionGraded
from exams.grading import Grade, QuestionGrade, give_points, read_hand_marks
from exams.models import Attempt, Result, ResultState, Submission
from exams.queries.grading import list_classes
from exams.queries.papers import list_question_ids
from exams.services.facts import WORKER, describe, event_of
from outbox.db import load_sql, require_transaction
from outbox.log.publish import Actor, NewEvent, publish

_LONGEST_REASON = 300


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """What grading found for one submission: a grade, or the reason why there can be none."""

    submission_id: UUID
    attempt_id: UUID
    grade: Grade | None = None
    reason: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """A finding, the rows it is about as they were locked, and the result there was before."""

    finding: Finding
    attempt: Attempt
    submission: Submission
    old: Result | None

    @property
    def state(self) -> str:
        """Return the state grading ended in."""
        return self.finding.grade.state if self.finding.grade else str(ResultState.FAILED)

    @property
    def keeps_old(self) -> bool:
        """Return whether a failure must leave the result alone: there is a score, and a failure is no better one."""
        return self.finding.grade is None and self.old is not None and self.old.state != ResultState.FAILED


def record_findings(findings: Sequence[Finding]) -> None:
    """Write what a worker found. Needs a transaction; locks as `lock_changes` does."""
    changes = [_keep_hand_marks(change) for change in lock_changes(findings)]
    write_changes([change for change in changes if change.keeps_old or _differs(change)], by=WORKER)


def lock_changes(findings: Sequence[Finding]) -> list[Change]:
    """Lock the attempts by id, then read submissions and results: a statement that waits sees what was before its wait.

    A submission that was withdrawn meanwhile is passed over: its attempt is open again, and nothing is said about it.
    """
    require_transaction()
    attempts = Attempt.objects.filter(pk__in=[finding.attempt_id for finding in findings]).order_by("id")
    locked = {attempt.pk: attempt for attempt in attempts.select_for_update(no_key=True)}
    counting = Submission.objects.filter(withdrawn_at__isnull=True).select_related("result").defer("answers")
    submissions = counting.in_bulk([finding.submission_id for finding in findings])
    return [
        Change(finding, locked[finding.attempt_id], submission, getattr(submission, "result", None))
        for finding in findings
        if (submission := submissions.get(finding.submission_id))
    ]


def write_changes(changes: Sequence[Change], *, by: Actor) -> None:
    """Write changes of one transaction, one an attempt: results (their rows come after the attempts'), attempts, events."""
    if not changes:
        return
    _execute("upsert_results", [_result_row(change) for change in changes if not change.keeps_old])
    _execute("settle_attempts", [_attempt_row(change) for change in changes])
    classes = list_classes([change.attempt.pk for change in changes if change.finding.grade])
    publish(_event(change, classes.get(change.attempt.pk, []), by) for change in changes)


def _keep_hand_marks(change: Change) -> Change:
    finding = change.finding
    marks = read_hand_marks(change.old.breakdown) if change.old else {}
    if finding.grade is None or not marks:
        return change
    kept = dataclasses.replace(finding, grade=give_points(finding.grade, marks))
    return dataclasses.replace(change, finding=kept)


def _differs(change: Change) -> bool:
    old = change.old
    if old is None:
        return True
    new = _result_row(change)
    return any(
        getattr(old, name) != new[name] for name in ("state", "score", "max_points", "breakdown", "reason")
    )


def _result_row(change: Change) -> dict[str, Any]:
    grade = change.finding.grade
    return {
        "submission_id": change.submission.pk,
        "school_id": change.submission.school_id,
        "exam_id": change.submission.exam_id,
        "attempt_id": change.attempt.pk,
        "state": change.state,
        "score": grade and grade.score,
        "max_points": grade and grade.max_points,
        "breakdown": grade.breakdown() if grade else {},
        "reason": change.finding.reason[:_LONGEST_REASON],
    }


def _attempt_row(change: Change) -> dict[str, Any]:
    attempt = change.attempt
    if change.keeps_old:
        return {"id": attempt.pk, "state": attempt.state, "failure_reason": attempt.failure_reason}
    return {
        "id": attempt.pk,
        "state": change.state,
        "failure_reason": change.finding.reason[:_LONGEST_REASON],
    }


def _event(change: Change, classes: list[ClassNamed], by: Actor) -> NewEvent:
    return event_of(change.attempt, _fact(change, classes), by=by, cause_id=change.submission.event_id)


def _fact(change: Change, classes: list[ClassNamed]) -> AttemptFact:
    about = {**describe(change.attempt), "submission_id": change.submission.pk}
    grade, old = change.finding.grade, change.old
    if grade is None:
        return GradingFailed(**about, reason=change.finding.reason)
    questions = _in_paper_order(grade, change.submission.revision_id)
    return SubmissionGraded(
        **about,
        state=grade.state,
        score=write_number(grade.score),
        max_points=write_number(grade.max_points),
        result_version=old.version + 1 if old else 1,
        old_score=None if old is None or old.score is None else write_number(old.score),
        revision=change.submission.exam_revision,
        points=[write_number(question.points) for question in questions],
        out_of=[write_number(question.max_points) for question in questions],
        classes=classes,
    )


def _in_paper_order(grade: Grade, revision_id: UUID) -> list[QuestionGrade]:
    """Return what the questions earned, each in its place: a stored breakdown, and a stored key, do not keep an order."""
    return [grade.questions[name] for name in list_question_ids(revision_id) if name in grade.questions]


def _execute(name: str, rows: Sequence[dict[str, Any]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(load_sql("exams", name), {"rows": json.dumps(rows, cls=DjangoJSONEncoder)})
