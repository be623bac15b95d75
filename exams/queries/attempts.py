"""One attempt as its student sees it: the row, the paper without its key, what was kept, what was handed in, how far it is."""

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import cast
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Now

from exams.errors import NotFound
from exams.jobs import GRADE
from exams.models import Attempt, AttemptState, Draft, Result, ResultState, Submission
from exams.policies import attempts_of
from exams.queries.safety import confirm_safe
from outbox.db import fetch_row
from outbox.models import JobState

NOT_STANDING = ("revision__paper", "revision__instructions", "draft__answers")
_MOST_COUNTED = 1_000
_GIVEN_UP = "Grading ran into a technical problem. Your work is safe; the staff have been told and will have it graded again."


@dataclasses.dataclass(frozen=True, slots=True)
class Progress:
    """How far grading is: `is_running`, or `place` in the exam's line (1 is next; 1,001 means "or later"), or given up."""

    is_running: bool = False
    place: int | None = None
    is_given_up: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class AttemptView:
    """One attempt with all that is told about it. `read_at` is the database's clock."""

    attempt: Attempt
    read_at: datetime
    draft: Draft | None = None
    submission: Submission | None = None
    result: Result | None = None
    progress: Progress = Progress()

    @property
    def state(self) -> str:
        """Return the state a student is told: the stored one, or what became of a submission meanwhile."""
        if self.attempt.state != AttemptState.SUBMITTED:
            return str(self.attempt.state)
        if self.progress.is_given_up:
            return str(AttemptState.FAILED)
        return "grading" if self.progress.is_running else str(AttemptState.SUBMITTED)

    @property
    def failure(self) -> str:
        """Return why there is no result and will be none by itself; empty if that is not so."""
        return _GIVEN_UP if self.progress.is_given_up else self.attempt.failure_reason

    @property
    def released(self) -> Result | None:
        """Return the result if its score may be shown: complete, and released by the exam's staff."""
        released_at = self.attempt.exam.scores_released_at
        is_released = released_at is not None and released_at <= self.read_at
        is_complete = self.result is not None and self.result.state == ResultState.GRADED
        return self.result if is_released and is_complete else None


def get_attempt(*, attempt_id: UUID, student_id: UUID) -> AttemptView:
    """Return this student's attempt, or raise `NotFound`. One read while it is open, at most three afterwards.

    What is over is told only once it is safe; raises `OutcomeUnknown` until then.
    """
    return _view(attempts_of(student_id), attempt_id)


def _view(attempts: QuerySet[Attempt], attempt_id: UUID, *, without: Sequence[str] = ()) -> AttemptView:
    read = attempts.select_related("exam__school", "revision", "draft").defer("revision__key", *without)
    attempt = read.annotate(read_at=Now()).filter(pk=attempt_id).first()
    if attempt is None:
        raise NotFound
    if attempt.state == AttemptState.OPEN:
        return AttemptView(attempt, attempt.read_at, draft=getattr(attempt, "draft", None))
    submission = find_submission(attempt_id)
    view = AttemptView(
        attempt,
        attempt.read_at,
        submission=submission,
        result=getattr(submission, "result", None),
        progress=_find_progress(submission)
        if submission and attempt.state == AttemptState.SUBMITTED
        else Progress(),
    )
    confirm_safe()
    return view


def get_standing(*, attempt_id: UUID, student_id: UUID) -> AttemptView:
    """Return how this student's attempt stands, or raise `NotFound`: what may have changed since the paper was fetched, without it.

    The paper may be a megabyte, and every open page asks twice a minute. As many reads as `get_attempt`, over narrow rows.
    """
    return _view(attempts_of(student_id), attempt_id, without=NOT_STANDING)


def find_submission(attempt_id: UUID) -> Submission | None:
    """Return the attempt's submission with its result, or None while there is none (a withdrawn one does not count)."""
    return (
        Submission.objects.select_related("result")
        .defer("answers", "result__breakdown")
        .filter(attempt=attempt_id, withdrawn_at__isnull=True)
        .first()
    )


def _find_progress(submission: Submission) -> Progress:
    parameters = {
        "group_id": submission.exam_id,
        "subject_id": submission.id,
        "kind": GRADE,
        "most": _MOST_COUNTED,
    }
    with connection.cursor() as cursor:
        state, ahead, is_given_up = fetch_row(cursor, "exams", "find_progress", parameters)
    if state is None:
        return Progress(is_given_up=cast("bool", is_given_up))
    return Progress(is_running=state == JobState.RUNNING, place=None if ahead is None else ahead + 1)
