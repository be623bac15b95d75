"""Starting an attempt: whoever asks twice, or twice at once, gets the attempt that is already open."""

import dataclasses
from uuid import UUID

from django.db import transaction

from exams.errors import NoAttemptsLeft, NotOpen
from exams.events import AttemptStarted
from exams.local_time import write_local, write_utc
from exams.locks import lock_for_start
from exams.models import Attempt, Exam, ExamRevision
from exams.queries.exams import ExamView, get_exam
from exams.services.closing import close_if_overdue
from exams.services.facts import describe, event_of
from outbox.log.publish import Actor, publish
from outbox.models.log import ActorType


@dataclasses.dataclass(frozen=True, slots=True)
class Started:
    """The attempt to sit, and whether it was begun just now."""

    attempt: Attempt
    is_new: bool


@transaction.atomic
def start_attempt(*, exam_id: UUID, student_id: UUID) -> Started:
    """Return this student's open attempt at the exam, starting one if there is none.

    Locks the exam's times (shared) and the student's. Raises `NotFound` (not theirs), `NotOpen` or `NoAttemptsLeft`.
    """
    lock_for_start(exam_id=exam_id, student_id=student_id)
    view = get_exam(exam_id=exam_id, student_id=student_id)
    under_way = view.open_attempt
    if under_way and not close_if_overdue(under_way.pk):
        return Started(under_way, is_new=False)
    check_may_start(view)
    attempt = _create(view, student_id)
    _publish_start(attempt)
    return Started(attempt, is_new=True)


def check_may_start(view: ExamView) -> None:
    """Raise `NotOpen` or `NoAttemptsLeft` unless this student may start a new attempt now. Pure."""
    exam, zone = view.exam, view.exam.school.time_zone
    if view.read_at < exam.opens_at:
        opens_at = write_local(exam.opens_at, zone)
        raise NotOpen(f"This exam opens at {opens_at}.", opens_at=opens_at)
    if view.read_at > view.times.last_start:
        closed_at = write_local(view.times.last_start, zone)
        raise NotOpen(f"This exam could be started until {closed_at}.", closed_at=closed_at)
    if len(view.attempts) >= exam.attempts_allowed:
        raise NoAttemptsLeft(attempts_allowed=exam.attempts_allowed)


def _create(view: ExamView, student_id: UUID) -> Attempt:
    deadline = view.times.deadline(started_at=view.read_at)
    return Attempt.objects.create(
        school_id=view.exam.school_id,
        exam=view.exam,
        revision=_current_revision(view.exam),
        student_id=student_id,
        number=max((attempt.number for attempt in view.attempts), default=0) + 1,
        started_at=view.read_at,
        closes_at=deadline.closes_at,
        grace_until=deadline.grace_until,
        accepts_until=deadline.accepts_until,
        deadline_rule=deadline.rule,
    )


def _current_revision(exam: Exam) -> ExamRevision:
    """Return the latest published paper; there is one, or the exam would not be among the student's."""
    published = exam.revisions.filter(published_at__isnull=False)
    return published.only("number").latest("number")


def _publish_start(attempt: Attempt) -> None:
    fact = AttemptStarted(
        **describe(attempt),
        revision=attempt.revision.number,
        closes_at=write_utc(attempt.closes_at),
        rule=attempt.deadline_rule,
    )
    student = Actor(ActorType.PERSON, attempt.student_id)
    publish([event_of(attempt, fact, by=student, version=attempt.version)])
