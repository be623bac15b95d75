"""Telling people in the page what happened to an exam that concerns them. Effects of the database: each event counts once.

Events may be told out of order, so what a line says must hold by itself; of one topic the latest words stand.
"""

import dataclasses
from collections.abc import Callable, Collection
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.urls import reverse
from django.utils import timezone

from exams.events import (
    AttemptNotTaken,
    AttemptReopened,
    DeadlineMoved,
    GradingFailed,
    ScoresReleased,
    SubmissionAccepted,
    SubmissionGraded,
)
from exams.models import Exam, Origin, ResultState
from exams.queries.markers import list_markers
from exams.queries.results import list_scored_students
from gradebook.moments import write_moment
from gradebook.services.notifications import notify
from outbox.effects import Delivery
from outbox.log.reading import StoredEvent


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """What to tell whom; `topic` gathers what is about the same."""

    recipients: Collection[UUID]
    topic: str
    text: str
    address: str


def tell(delivery: Delivery) -> None:
    """Tell everybody whom this event concerns."""
    event = delivery.event
    exam = Exam.objects.select_related("school").get(pk=event.payload["exam_id"])
    for line in _WRITERS[event.kind](event, exam):
        notify(
            recipients=line.recipients,
            topic=line.topic,
            text=line.text,
            address=line.address,
            occurred_at=event.occurred_at,
        )


def _accepted(event: StoredEvent, exam: Exam) -> list[Line]:
    by_server = event.payload["origin"] == Origin.SERVER
    text = (
        f"Time was up for {exam.title}: what you had saved was handed in for you."
        if by_server
        else f"Your work for {exam.title} was received."
    )
    submission_id = event.payload["submission_id"]
    return [_to_student(event, f"submission:{submission_id}", text, _receipt(submission_id))]


def _not_taken(event: StoredEvent, exam: Exam) -> list[Line]:
    text = f"{exam.title} ended, and nothing of yours had been saved."
    return [_to_student(event, event.subject, text, reverse("exams:exam", args=[exam.pk]))]


def _deadline_moved(event: StoredEvent, exam: Exam) -> list[Line]:
    text = f"Your time for {exam.title} now ends {_moment(event.payload['new_closes_at'], exam)}."
    return [_to_student(event, f"deadline:{event.subject}", text, _sitting(event))]


def _reopened(event: StoredEvent, exam: Exam) -> list[Line]:
    text = f"{exam.title} is open for you again until {_moment(event.payload['new_closes_at'], exam)}."
    return [_to_student(event, f"deadline:{event.subject}", text, _sitting(event))]


def _graded(event: StoredEvent, exam: Exam) -> list[Line]:
    if event.payload["state"] == ResultState.NEEDS_MARKING:
        return [_to_markers(event, exam, "marking", f"Answers in {exam.title} wait for marking.")]
    if not _is_released(exam):
        return []  # what is not released is not hinted at either
    submission_id = event.payload["submission_id"]
    text = f"Your work for {exam.title} is graded."
    return [_to_student(event, f"graded:{submission_id}", text, _receipt(submission_id))]


def _released(event: StoredEvent, exam: Exam) -> list[Line]:
    if not _is_released(exam):
        return []  # it was taken back meanwhile
    text = f"The scores of {exam.title} are released."
    students = list_scored_students(exam_id=exam.pk)
    return [Line(students, f"released:{exam.pk}", text, reverse("exams:receipts"))]


def _is_released(exam: Exam) -> bool:
    return exam.scores_released_at is not None and exam.scores_released_at <= timezone.now()


def _failed(event: StoredEvent, exam: Exam) -> list[Line]:
    submission_id = event.payload["submission_id"]
    student = f"Your work for {exam.title} is safe, but could not be graded yet. Your school has been told."
    return [
        _to_student(event, f"failed:{submission_id}", student, _receipt(submission_id)),
        _to_markers(event, exam, "failed", f"Work for {exam.title} could not be graded."),
    ]


Writer = Callable[[StoredEvent, Exam], list[Line]]
_WRITERS: dict[str, Writer] = {
    SubmissionAccepted.kind: _accepted,
    AttemptNotTaken.kind: _not_taken,
    DeadlineMoved.kind: _deadline_moved,
    AttemptReopened.kind: _reopened,
    SubmissionGraded.kind: _graded,
    GradingFailed.kind: _failed,
    ScoresReleased.kind: _released,
}
TOLD = frozenset(_WRITERS)


def _to_student(event: StoredEvent, topic: str, text: str, address: str) -> Line:
    return Line([UUID(event.payload["student_id"])], topic, text, address)


def _to_markers(event: StoredEvent, exam: Exam, topic: str, text: str) -> Line:
    markers = list_markers(exam=exam, student_id=UUID(event.payload["student_id"]))
    return Line(markers, f"{topic}:{exam.pk}", text, reverse("exams:marking-exam", args=[exam.pk]))


def _receipt(submission_id: str) -> str:
    return reverse("exams:receipt", args=[submission_id])


def _sitting(event: StoredEvent) -> str:
    return reverse("exams:sitting", args=[event.payload["attempt_id"]])


def _moment(text: str, exam: Exam) -> str:
    return str(write_moment(datetime.fromisoformat(text), ZoneInfo(exam.school.time_zone)))
