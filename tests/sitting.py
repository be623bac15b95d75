"""Fixtures: an exam that the class of `tests.people` sits, the student's attempt at it, and the events an attempt has had."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from uuid_utils.compat import uuid7

from exams.canonical import canonical_answers, digest
from exams.events import SubmissionAccepted
from exams.jobs import grading_job
from exams.local_time import write_utc
from exams.models import Attempt, AttemptState, Decision, Exam, Submission
from exams.receipt_keys import get_key_ring
from exams.services.attempts import start_attempt
from exams.services.facts import describe, event_of
from gradebook.models import User
from outbox.db import database_now
from outbox.log.publish import Actor, NewEvent, publish
from outbox.models import Event
from outbox.models.log import ActorType
from outbox.queue.jobs import enqueue
from tests import factories
from tests.people import World


@pytest.fixture
def exam(world: World) -> Exam:
    """Open for another hour, with a paper of all kinds."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period)
    factories.published_revision(exam)
    factories.target(exam, world.school_class)
    return exam


@pytest.fixture
def attempt(exam: Exam, student: User) -> Attempt:
    """The student has begun."""
    return start_attempt(exam_id=exam.pk, student_id=student.pk).attempt


@pytest.fixture
def events_of() -> Callable[[UUID], list[tuple[str, dict[str, Any]]]]:
    """Return kind and payload of an attempt's events, in order, after checking that their versions are dense."""

    def list_events(attempt_id: UUID) -> list[tuple[str, dict[str, Any]]]:
        events = list(Event.objects.filter(subject=f"attempt:{attempt_id}").order_by("subject_version"))
        assert [event.subject_version for event in events] == list(range(1, len(events) + 1))
        assert Attempt.objects.get(pk=attempt_id).version == len(events)
        return [(event.kind, event.payload) for event in events]

    return list_events


@transaction.atomic
def hand_in(attempt: Attempt, answers: Mapping[str, Any] | None = None, **fields: Any) -> Submission:
    """Hand in as the gate does, which needs a connection of its own: submission, job, event and the attempt's state."""
    text = canonical_answers(answers or {})
    accepted_at = fields.get("accepted_at", database_now())
    submission = Submission.objects.create(
        school_id=attempt.school_id,
        exam_id=attempt.exam_id,
        attempt=attempt,
        student_id=attempt.student_id,
        revision_id=attempt.revision_id,
        exam_revision=attempt.revision.number,
        attempt_key=attempt.key,
        answers=text,
        deadline=attempt.closes_at,
        decision_rule=attempt.deadline_rule,
        receipt_key_id=get_key_ring().signing_id,
        event_id=uuid7(),
        **{"payload_sha256": digest(text), "accepted_at": accepted_at, "decision": Decision.ON_TIME} | fields,
    )
    enqueue([grading_job(submission)])
    Attempt.objects.filter(pk=attempt.pk).update(
        state=AttemptState.SUBMITTED, ended_at=accepted_at, version=attempt.version + 1
    )
    publish([_accepted(attempt, submission)])
    attempt.refresh_from_db()
    return submission


def _accepted(attempt: Attempt, submission: Submission) -> NewEvent:
    fact = SubmissionAccepted(
        **describe(attempt),
        submission_id=submission.pk,
        payload_sha256=submission.payload_sha256,
        accepted_at=write_utc(submission.accepted_at),
        deadline=write_utc(submission.deadline),
        decision=submission.decision,
        origin=submission.origin,
    )
    student = Actor(ActorType.PERSON, attempt.student_id)
    return event_of(attempt, fact, by=student, event_id=submission.event_id)
