"""Grading again: the same submissions by the same key, by whatever the grader is today."""

from uuid import UUID

from django.db import transaction

from exams.errors import NotFound
from exams.jobs import regrading_job
from exams.models import Exam, ResultState, Submission
from outbox.queue.jobs import enqueue

_AT_ONCE = 1_000


def regrade_exam(*, exam_id: UUID, only_failed: bool = False) -> int:
    """Queue the exam's graded submissions (or those that failed) to be graded again; return how many.

    Those that wait to be regraded already are not counted. Commits batch by batch: calling it again queues what is missing.
    """
    if not Exam.objects.filter(pk=exam_id).exists():
        raise NotFound
    chosen = Submission.objects.filter(exam_id=exam_id, withdrawn_at__isnull=True, result__isnull=False)
    if only_failed:
        chosen = chosen.filter(result__state=ResultState.FAILED)
    ids = list(chosen.order_by("id").values_list("id", flat=True))
    return sum(_queue(ids[first : first + _AT_ONCE]) for first in range(0, len(ids), _AT_ONCE))


@transaction.atomic
def _queue(submission_ids: list[UUID]) -> int:
    return len(enqueue(map(regrading_job, Submission.objects.filter(pk__in=submission_ids).defer("answers"))))
