"""Jobs that are given up, for tests of whoever looks at them."""

import uuid

from outbox.models import DeadLetter, Job
from outbox.queue.handlers import ClaimedJob, Outcome
from tests.outbox.queue.workshop import (
    EXAM,
    KIND,
    TENANT,
    Workshop,
    claim_batch,
    queue,
    work_on,
)


def stumble(job: ClaimedJob) -> Outcome:
    raise ValueError(f"no key for question 7\nof job {job.subject_id.int}")


def bury(count: int = 1, *, kind: str = KIND) -> list[DeadLetter]:
    """Give up so many jobs."""
    queue(count, kind=kind)
    if kind == KIND:
        work_on(Workshop(fate=stumble), claim_batch())
    else:
        Job.objects.filter(kind=kind).delete()
        for number in range(count):
            DeadLetter.objects.create(
                tenant_id=TENANT,
                group_id=EXAM,
                job_id=uuid.uuid4(),
                kind=kind,
                subject_id=uuid.UUID(int=number),
                cause="lost_leases",
                tries=3,
                lost_leases=3,
            )
    return list(DeadLetter.objects.filter(kind=kind).order_by("died_at", "id"))
