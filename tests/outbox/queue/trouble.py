"""What goes wrong with a batch in a worker: jobs taken away, and work that fails."""

import uuid
from collections.abc import Callable, Sequence

from django.db import OperationalError
from django.db.models import F
from psycopg import errors

from outbox.models import Job
from outbox.queue.handlers import ClaimedJob, Done, Outcome, Verdict
from tests.outbox.queue.workshop import number_of

BUSY = OperationalError("deadlock detected")
BUSY.__cause__ = errors.DeadlockDetected()


def take_away(*numbers: int) -> None:
    """Give these jobs to another worker, as after an expired lease."""
    Job.objects.filter(subject_id__in=[uuid.UUID(int=number) for number in numbers]).update(
        lease_id=uuid.uuid4(), tries=F("tries") + 1
    )


def fail(number: int, error: Exception) -> Callable[[ClaimedJob], Outcome]:
    """Return a fate that raises for one job."""

    def fate(job: ClaimedJob) -> Outcome:
        if number_of(job.subject_id) == number:
            raise error
        return Done(job)

    return fate


def fail_writing(number: int, error: Exception) -> Callable[[Sequence[Verdict]], None]:
    """Return a disturbance that raises when this job is among those written."""

    def on_write(verdicts: Sequence[Verdict]) -> None:
        if number in [number_of(verdict.job.subject_id) for verdict in verdicts]:
            raise error

    return on_write
