"""Results of exams as events, straight into the log: what analytics reads, without papers and workers behind it."""

import dataclasses
from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID, uuid4

from exams.events import AttemptReopened, ClassNamed, SubmissionGraded, attempt_subject
from gradebook.events import ColumnChanged, ColumnState, column_subject
from outbox.log.publish import Actor, NewEvent
from outbox.models.log import ActorType

WORKER = Actor(ActorType.WORKER)


@dataclasses.dataclass
class Sat:
    """One attempt whose results a test writes; it remembers its version."""

    exam_id: UUID
    classes: tuple[UUID, ...] = ()
    attempt_id: UUID = dataclasses.field(default_factory=uuid4)
    student_id: UUID = dataclasses.field(default_factory=uuid4)
    version: int = 0

    def grade(
        self,
        points: Sequence[str],
        *,
        out_of: Sequence[str] = ("2", "2", "4"),
        state: str = "graded",
        revision: int = 1,
        said_in: int = 2,
    ) -> NewEvent:
        """Return the event of the attempt's next result, said in this version of it."""
        self.version += 1
        fact = SubmissionGraded(
            attempt_id=self.attempt_id,
            exam_id=self.exam_id,
            student_id=self.student_id,
            number=1,
            submission_id=self.attempt_id,
            state=state,
            score=str(sum(map(Decimal, points))),
            max_points=str(sum(map(Decimal, out_of))),
            result_version=self.version,
            old_score=None,
            revision=revision,
            points=list(points),
            out_of=list(out_of),
            classes=[ClassNamed(id=str(each), name=f"Class {each.int}") for each in self.classes],
        )
        payload = fact.payload()
        if said_in == 1:
            payload = {
                name: value
                for name, value in payload.items()
                if name not in {"revision", "points", "out_of", "classes"}
            }
        return self._event(fact.kind, said_in, payload)

    def reopen(self) -> NewEvent:
        """Return the event that opens the attempt again."""
        self.version += 1
        fact = AttemptReopened(
            attempt_id=self.attempt_id,
            exam_id=self.exam_id,
            student_id=self.student_id,
            number=1,
            withdrawn_submission_id=self.attempt_id,
            new_closes_at="2026-06-01T09:00:00Z",
            reason="a power cut",
        )
        return self._event(fact.kind, fact.version, fact.payload())

    def _event(self, kind: str, version: int, payload: dict[str, object]) -> NewEvent:
        return NewEvent(
            kind=kind,
            schema_version=version,
            subject=attempt_subject(self.attempt_id),
            subject_version=self.version,
            actor=WORKER,
            payload=payload,
        )


def describe_column(
    column_id: UUID, sheet_id: UUID, *, title: str = "Essay", max_points: str = "10", version: int = 1
) -> NewEvent:
    """Return the event of a column that says this of itself now."""
    fact = ColumnChanged(
        school_id=sheet_id,
        sheet_id=sheet_id,
        column_id=column_id,
        actor_name="Grace Hopper",
        old=None,
        new=ColumnState(title, max_points),
    )
    return NewEvent(
        kind=fact.kind,
        subject=column_subject(column_id),
        subject_version=version,
        actor=WORKER,
        payload=fact.payload(),
    )
