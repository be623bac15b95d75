"""The gate as one would write it first: a DRF view, the ORM, a transaction a request. The same work, rule and receipt.

It reads the token without the database, as the gate does, and is served the way it is fastest (threads under WSGI), so that
what is compared is the way a hand-in takes and nothing else.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import transaction
from django.urls import path
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from uuid_utils.compat import uuid7

from exams.api.authentication import BearerAuthentication
from exams.canonical import canonical_answers, digest
from exams.errors import AttemptClosed, DifferentAnswers, NotFound
from exams.events import SubmissionAccepted
from exams.jobs import grading_job
from exams.local_time import write_utc
from exams.models import Attempt, AttemptState, Decision, Submission
from exams.receipt_keys import get_key_ring
from exams.receipts import Receipt, sign_receipt
from exams.services.facts import describe, event_of
from outbox.db import database_now
from outbox.log.publish import Actor, publish
from outbox.models.log import ActorType
from outbox.queue.jobs import enqueue


class AnswersForm(serializers.Serializer[Any]):
    """The body."""

    answers = serializers.DictField()


class SubmissionView(APIView):
    """`POST /api/v1/attempts/{id}/submission`."""

    authentication_classes = [BearerAuthentication]
    permission_classes = [IsAuthenticated]

    def post(self, request: Request, attempt_id: UUID) -> Response:
        """Accept the answers, or say what was accepted before."""
        form = AnswersForm(data=request.data)
        form.is_valid(raise_exception=True)
        answers = canonical_answers(form.validated_data["answers"])
        with transaction.atomic():
            attempt = _lock_attempt(attempt_id, request.user.pk)
            stored = attempt.submissions.filter(withdrawn_at__isnull=True).first()
            submission = stored or _accept(attempt, answers)
        if submission.payload_sha256 != digest(answers):
            raise DifferentAnswers
        receipt = sign_receipt(Receipt.of(submission), get_key_ring())
        return Response(receipt, status=200 if stored else 202)


def _lock_attempt(attempt_id: UUID, student_id: Any) -> Attempt:
    attempts = Attempt.objects.select_for_update(of=("self",)).select_related("revision")
    attempt = attempts.filter(pk=attempt_id, student_id=student_id).first()
    if attempt is None:
        raise NotFound
    return attempt


def _accept(attempt: Attempt, answers: str) -> Submission:
    now = database_now()
    if attempt.state != AttemptState.OPEN or now > attempt.accepts_until:
        raise AttemptClosed
    submission = Submission.objects.create(
        school_id=attempt.school_id,
        exam_id=attempt.exam_id,
        attempt=attempt,
        student_id=attempt.student_id,
        revision_id=attempt.revision_id,
        exam_revision=attempt.revision.number,
        attempt_key=attempt.key,
        answers=answers,
        payload_sha256=digest(answers),
        accepted_at=now,
        deadline=attempt.closes_at,
        decision=_decide(attempt, now),
        decision_rule=attempt.deadline_rule,
        receipt_key_id=get_key_ring().signing_id,
        event_id=uuid7(),
    )
    enqueue([grading_job(submission)])
    _publish(attempt, submission)
    attempt.state, attempt.ended_at, attempt.version = AttemptState.SUBMITTED, now, attempt.version + 1
    attempt.save(update_fields=["state", "ended_at", "version"])
    return submission


def _decide(attempt: Attempt, now: datetime) -> Decision:
    if now <= attempt.closes_at:
        return Decision.ON_TIME
    return Decision.GRACE if now <= attempt.grace_until else Decision.LATE


def _publish(attempt: Attempt, submission: Submission) -> None:
    fact = SubmissionAccepted(
        **describe(attempt),
        submission_id=submission.pk,
        payload_sha256=submission.payload_sha256,
        accepted_at=write_utc(submission.accepted_at),
        deadline=write_utc(submission.deadline),
        decision=submission.decision,
        origin="student",
    )
    student = Actor(ActorType.PERSON, attempt.student_id)
    publish([event_of(attempt, fact, by=student, event_id=submission.event_id)])


urlpatterns = [path("api/v1/attempts/<uuid:attempt_id>/submission", SubmissionView.as_view())]

settings.ROOT_URLCONF = __name__
application = get_wsgi_application()
