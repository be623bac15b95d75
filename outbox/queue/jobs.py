"""How work enters the queue: `enqueue()`, in the transaction that makes the work necessary.

A job's id is a function of what it is for (`job_id_for`), so asking twice for the same work adds nothing, whoever asks.
A writer with SQL of its own (the gate) inserts `tenant_id, group_id, job_id, kind, subject_id`, with that id and
`ON CONFLICT DO NOTHING`; every other column of `outbox_job` has its default in the database.
"""

import dataclasses
import datetime as dt
import json
from collections.abc import Iterable
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection
from uuid_utils.compat import uuid5

from outbox.db import load_sql, require_transaction
from outbox.models.jobs import Lane

JOB_NAMESPACE = UUID("6d0c1f5e-1f0b-5f6e-9f43-2f1c8f0a7b11")


def job_id_for(kind: str, subject_id: UUID) -> UUID:
    """Return the one id a job of this kind for this subject can have: `uuid5(JOB_NAMESPACE, "kind:subject")`."""
    return uuid5(JOB_NAMESPACE, f"{kind}:{subject_id}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """Work to be done for `subject_id`. `group_id` is the unit of fairness (an exam); `run_at` None means now."""

    kind: str
    subject_id: UUID
    group_id: UUID
    tenant_id: UUID
    lane: Lane = Lane.FRESH
    priority: int = 0
    run_at: dt.datetime | None = None

    @property
    def job_id(self) -> UUID:
        """The deterministic id."""
        return job_id_for(self.kind, self.subject_id)


def enqueue(jobs: Iterable[NewJob]) -> list[UUID]:
    """Add the jobs that are not waiting or running yet; return the ids of those added. Needs a transaction.

    A job that was finished or given up before is added again: that is how a regrade or a replay is asked for.
    """
    require_transaction()
    rows = [dataclasses.asdict(job) | {"job_id": job.job_id} for job in jobs]
    if not rows:
        return []
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "enqueue_jobs"), {"jobs": json.dumps(rows, cls=DjangoJSONEncoder)})
        return [job_id for (job_id,) in cursor.fetchall()]
