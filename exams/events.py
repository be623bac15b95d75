"""Facts the exams app publishes about papers and attempts. Readers may rely on these shapes.

The subject is `attempt:<id>`; of a paper, `revision:<id>`; of a release of scores, `release:<exam>:<time>`. Values are plain: ids as text, decimals as text, times as ISO 8601 in UTC.
A member may be added to a version, with a reader that does without; any other change of shape is a new version.
"""

import dataclasses
from typing import Any, TypedDict
from uuid import UUID

from outbox.facts import Fact


def attempt_subject(attempt_id: UUID) -> str:
    """Return the subject key of one attempt."""
    return f"attempt:{attempt_id}"


def revision_subject(revision_id: UUID) -> str:
    """Return the subject key of one revision of an exam's paper."""
    return f"revision:{revision_id}"


def release_subject(exam_id: UUID, released_at: str) -> str:
    """Return the subject key of one release of an exam's scores."""
    return f"release:{exam_id}:{released_at}"


@dataclasses.dataclass(frozen=True, slots=True)
class ExamPublished(Fact):
    """A revision of an exam's paper was frozen; attempts that begin from now on sit it. Said once a revision: its only version.

    `paper_sha256` is of the paper that students are shown, so the log proves which one that was. Nothing here is of the key.
    """

    kind = "ExamPublished"

    exam_id: UUID
    revision_id: UUID
    revision: int
    title: str
    questions: int
    max_points: str
    published_at: str
    paper_sha256: str


@dataclasses.dataclass(frozen=True, slots=True)
class ScoresReleased(Fact):
    """From `released_at` on, students of this exam see their scores. Said once a release: its only version. No score is in it."""

    kind = "ScoresReleased"

    exam_id: UUID
    title: str
    released_at: str


@dataclasses.dataclass(frozen=True, slots=True)
class AttemptFact(Fact):
    """What every fact about an attempt says."""

    attempt_id: UUID
    exam_id: UUID
    student_id: UUID
    number: int


@dataclasses.dataclass(frozen=True, slots=True)
class AttemptStarted(AttemptFact):
    """A student began; `closes_at` is the personal deadline at that moment and `rule` why."""

    kind = "AttemptStarted"

    revision: int
    closes_at: str
    rule: str


@dataclasses.dataclass(frozen=True, slots=True)
class DeadlineMoved(AttemptFact):
    """The personal deadline of an open attempt changed."""

    kind = "DeadlineMoved"

    old_closes_at: str
    new_closes_at: str
    rule: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class SubmissionAccepted(AttemptFact):
    """A submission was accepted: the receipt's facts, never the answers. Written by the gate's SQL in this shape."""

    kind = "SubmissionAccepted"

    submission_id: UUID
    payload_sha256: str
    accepted_at: str
    deadline: str
    decision: str
    origin: str


@dataclasses.dataclass(frozen=True, slots=True)
class AttachmentStored(AttemptFact):
    """A file for a question has arrived whole and is kept, as this version; what is shown of it has yet to be made."""

    kind = "AttachmentStored"

    question_id: UUID
    version_id: UUID
    version_number: int
    sha256: str
    size: int
    file_type: str


@dataclasses.dataclass(frozen=True, slots=True)
class AttemptNotTaken(AttemptFact):
    """The deadline passed and nothing had been saved."""

    kind = "AttemptNotTaken"


@dataclasses.dataclass(frozen=True, slots=True)
class AttemptReopened(AttemptFact):
    """An extension given after the end reopened the attempt; the server's own submission was withdrawn."""

    kind = "AttemptReopened"

    withdrawn_submission_id: UUID | None
    new_closes_at: str
    reason: str


class ClassNamed(TypedDict):
    """A class, with its name as it was at the time."""

    id: str
    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class SubmissionGraded(AttemptFact):
    """The result of a submission, found by a worker or changed by a teacher who marked an answer.

    `state` is `graded` or `needs_marking` (then the score is what was found so far). Since version 2 also: what each question
    earned and what it could (`points`, `out_of`), in the order of the paper that `revision` names, and the classes, of those the exam
    is given to, that the student was in when the attempt was started.
    """

    kind = "SubmissionGraded"
    version = 2

    submission_id: UUID
    state: str
    score: str
    max_points: str
    result_version: int
    old_score: str | None
    revision: int | None
    points: list[str]
    out_of: list[str]
    classes: list[ClassNamed]


def upcast_graded(payload: dict[str, Any]) -> dict[str, Any]:
    """Say a `SubmissionGraded` of version 1 in version 2: what it did not tell is not known."""
    return payload | {"revision": None, "points": [], "out_of": [], "classes": []}


@dataclasses.dataclass(frozen=True, slots=True)
class GradingFailed(AttemptFact):
    """Grading ended without a result, for a reason a person understands. Never changes a mark."""

    kind = "GradingFailed"

    submission_id: UUID
    reason: str
