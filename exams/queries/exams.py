"""The exams a student may sit, each with the student's own times and attempts."""

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from exams.errors import NotFound
from exams.models import Attempt, AttemptState, Exam
from exams.policies import attempts_of, exams_open_to
from exams.queries.safety import confirm_safe
from exams.queries.times import PersonalTimes, Times

MOST_LISTED = 200


@dataclasses.dataclass(frozen=True, slots=True)
class ExamView:
    """One exam as one student sees it. `read_at` is the database's clock."""

    exam: Exam
    times: PersonalTimes
    attempts: Sequence[Attempt]
    read_at: datetime

    @property
    def closes_at(self) -> datetime:
        """Return the personal close: of the attempt under way, else the latest that one started later could have."""
        under_way = self.open_attempt
        return under_way.closes_at if under_way else self.times.latest_deadline(now=self.read_at).closes_at

    @property
    def deadline_rule(self) -> str:
        """Return why `closes_at` is when it is."""
        under_way = self.open_attempt
        return under_way.deadline_rule if under_way else self.times.latest_deadline(now=self.read_at).rule

    @property
    def open_attempt(self) -> Attempt | None:
        """Return the attempt under way, if there is one."""
        return next((attempt for attempt in self.attempts if attempt.state == AttemptState.OPEN), None)

    @property
    def may_start(self) -> bool:
        """Return whether a new attempt would be started now."""
        is_open = self.exam.opens_at <= self.read_at <= self.times.last_start
        return is_open and self.open_attempt is None and len(self.attempts) < self.exam.attempts_allowed


def list_exams(*, student_id: UUID) -> list[ExamView]:
    """Return the exams this student may sit, the one that opens last first; at most 200. Five reads.

    Raises `OutcomeUnknown` while it is not certain that what they say of past attempts is safe.
    """
    views = _view(_exams_of(student_id).order_by("-opens_at", "id")[:MOST_LISTED], student_id)
    confirm_what_is_over(views)
    return views


def confirm_what_is_over(views: Iterable[ExamView]) -> None:
    """Raise `OutcomeUnknown` unless every attempt that these views show as over is safely so."""
    if any(attempt.state != AttemptState.OPEN for view in views for attempt in view.attempts):
        confirm_safe()


def get_exam(*, exam_id: UUID, student_id: UUID) -> ExamView:
    """Return one exam this student may sit, or raise `NotFound`. Five reads.

    Not for a student's eyes before `confirm_what_is_over`, which does not belong into the transaction that starts an attempt.
    """
    found = _view(_exams_of(student_id).filter(pk=exam_id), student_id)
    if not found:
        raise NotFound
    return found[0]


def _exams_of(student_id: UUID) -> QuerySet[Exam]:
    return exams_open_to(student_id).select_related("school").annotate(read_at=Now())


def _view(exams: QuerySet[Exam], student_id: UUID) -> list[ExamView]:
    listed = list(exams)
    times = Times(listed, [student_id])
    attempts = defaultdict(list)
    for attempt in attempts_of(student_id).filter(exam__in=listed).order_by("number"):
        attempts[attempt.exam_id].append(attempt)
    return [
        ExamView(exam, times.of(exam.pk, student_id), attempts[exam.pk], vars(exam)["read_at"])
        for exam in listed
    ]
