"""How a fact of the gradebook becomes an event: by a person, in the school it is about."""

from typing import Any, ClassVar, Protocol
from uuid import UUID

from gradebook.models import User
from outbox.log.publish import Actor, NewEvent
from outbox.models.log import ActorType


class SchoolFact(Protocol):
    """What `gradebook.events` holds of one school: a `Fact` that says which."""

    kind: ClassVar[str]
    version: ClassVar[int]

    @property
    def school_id(self) -> UUID:
        """The school it is about."""

    def payload(self) -> dict[str, Any]:
        """Return the JSON object stored in the log."""


def event_by(
    by: User, fact: SchoolFact, *, subject: str, subject_version: int, batch_id: UUID | None = None
) -> NewEvent:
    """Return the event of a fact that this person made, ready to be published."""
    return NewEvent(
        kind=fact.kind,
        schema_version=fact.version,
        subject=subject,
        subject_version=subject_version,
        actor=Actor(ActorType.PERSON, by.pk),
        payload=fact.payload(),
        tenant_id=fact.school_id,
        batch_id=batch_id,
    )
