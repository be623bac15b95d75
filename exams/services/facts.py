"""From an attempt's row to its next event: who it is about, and the version the row gets with it."""

from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from exams.events import AttemptFact, attempt_subject
from exams.models import Attempt
from outbox.correlation import find_correlation_id
from outbox.log.publish import Actor, NewEvent
from outbox.models.log import ActorType

SERVER = Actor(ActorType.POLICY)
WORKER = Actor(ActorType.WORKER)


def describe(attempt: Attempt) -> dict[str, Any]:
    """Return what every fact about this attempt says."""
    return {
        "attempt_id": attempt.pk,
        "exam_id": attempt.exam_id,
        "student_id": attempt.student_id,
        "number": attempt.number,
    }


def event_of(
    attempt: Attempt,
    fact: AttemptFact,
    *,
    by: Actor,
    version: int | None = None,
    event_id: UUID | None = None,
    cause_id: UUID | None = None,
) -> NewEvent:
    """Return the event that carries the fact. `attempt` is as it was locked, before the version that this event makes."""
    return NewEvent(
        kind=fact.kind,
        schema_version=fact.version,
        subject=attempt_subject(attempt.pk),
        subject_version=attempt.version + 1 if version is None else version,
        actor=by,
        tenant_id=attempt.school_id,
        payload=fact.payload(),
        cause_id=cause_id,
        # As the gate's own: outside of a request, what happens to a submission is joined by the submission's id.
        correlation_id=find_correlation_id() or getattr(fact, "submission_id", None),
        event_id=event_id or uuid7(),
    )
