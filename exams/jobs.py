"""The jobs of the exams app: what they are called, and the one a submission needs. The group is the exam, so exams share fairly."""

from exams.models import Submission
from outbox.models import Lane
from outbox.queue.jobs import NewJob

GRADE = "grade"  # the gate's own SQL writes this word too
REGRADE = "regrade"


def grading_job(submission: Submission) -> NewJob:
    """Return the job that grades a fresh submission."""
    return _job(submission, GRADE, Lane.FRESH)


def regrading_job(submission: Submission) -> NewJob:
    """Return the job that grades a submission again, behind everything fresh."""
    return _job(submission, REGRADE, Lane.BACKLOG)


def _job(submission: Submission, kind: str, lane: Lane) -> NewJob:
    return NewJob(
        kind=kind,
        subject_id=submission.id,
        group_id=submission.exam_id,
        tenant_id=submission.school_id,
        lane=lane,
    )
