"""Sitting an exam: start an attempt, look at it, keep a draft of it."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from exams.api.authentication import SignedInView
from exams.api.bodies import read_body
from exams.api.fields import AnswersField, LocalTime, Points, TokenText
from exams.api.problems import READING_A_BODY, refusals
from exams.api.questions import Questions
from exams.errors import (
    AttemptClosed,
    ForeignPage,
    NoAttemptsLeft,
    NotFound,
    NotOpen,
    NotYetCertain,
    OutcomeUnknown,
    RateLimited,
    StaleDraft,
)
from exams.models import Decision, Origin
from exams.queries.attempts import AttemptView, get_attempt, get_standing
from exams.queries.feedback import QuestionFeedback, list_feedback
from exams.services.attempts import start_attempt
from exams.services.drafts import save_draft, take_save

SHOWN_STATES = ["open", "submitted", "grading", "graded", "needs_marking", "failed", "not_taken"]


class DraftSerializer(serializers.Serializer[Any]):
    """What was saved last. The next save names `token`."""

    answers = AnswersField()
    token = serializers.UUIDField()
    saved_at = LocalTime()


class SubmissionSerializer(serializers.Serializer[Any]):
    """What was handed in; the whole receipt is at `/api/v1/receipts/{id}`."""

    id = serializers.UUIDField()
    accepted_at = LocalTime()
    deadline = LocalTime()
    decision = serializers.ChoiceField(choices=Decision.values)
    origin = serializers.ChoiceField(choices=Origin.values)
    payload_sha256 = serializers.CharField()


class SavedSerializer(serializers.Serializer[Any]):
    """The next save names this token."""

    token = serializers.UUIDField()
    saved_at = LocalTime()


class FeedbackSerializer(serializers.Serializer[QuestionFeedback]):
    """What is said of one question, in its `text_format`: to this student's answer, and to everybody."""

    question_id = serializers.UUIDField()
    to_answer = serializers.ListField(child=serializers.CharField())
    general = serializers.CharField()


class StandingSerializer(serializers.Serializer[AttemptView]):
    """How one attempt stands. `accepts_until` is later than `closes_at` where there is grace or late time."""

    id = serializers.UUIDField(source="attempt.id")
    exam_id = serializers.UUIDField(source="attempt.exam_id")
    number = serializers.IntegerField(source="attempt.number")
    state = serializers.ChoiceField(choices=SHOWN_STATES)
    started_at = LocalTime(source="attempt.started_at")
    closes_at = LocalTime(source="attempt.closes_at")
    accepts_until = LocalTime(source="attempt.accepts_until")
    deadline_rule = serializers.CharField(source="attempt.deadline_rule")
    server_now = LocalTime(source="read_at")
    draft: serializers.Serializer[Any] = SavedSerializer(allow_null=True)
    submission = SubmissionSerializer(allow_null=True)
    queue_place = serializers.IntegerField(source="progress.place", allow_null=True)
    failure_reason = serializers.CharField(source="failure")
    score = Points(source="released.score", allow_null=True)
    max_points = Points(source="attempt.revision.max_points")


class AttemptSerializer(StandingSerializer):
    """One attempt, with its paper and the answers kept. Never an answer key."""

    title = serializers.CharField(source="attempt.exam.title")
    instructions = serializers.CharField(source="attempt.revision.instructions")
    questions = Questions(source="attempt.revision.paper")
    draft = DraftSerializer(allow_null=True)
    feedback = serializers.SerializerMethodField(
        help_text="What the authors say; null until the score is released, the exam has closed, and nobody sits it or may still begin it."
    )

    @extend_schema_field(FeedbackSerializer(many=True, allow_null=True))
    def get_feedback(self, view: AttemptView) -> Any:
        """Return what is said of the questions, where it may be read."""
        feedback: Any = list_feedback(view)
        return None if feedback is None else FeedbackSerializer(feedback, many=True).data


class DraftForm(serializers.Serializer[Any]):
    """What to keep, and what it continues: the token of the last save, null for the first one."""

    answers = AnswersField()
    token = TokenText(allow_null=True)


class Attempts(SignedInView):
    """The attempts at one exam."""

    @extend_schema(
        operation_id="start_attempt",
        summary="Start an attempt, or get the one that is open",
        request=None,
        responses={201: AttemptSerializer, 200: AttemptSerializer}
        | refusals(NotFound, NotOpen, NoAttemptsLeft, ForeignPage, OutcomeUnknown),
    )
    def post(self, request: Request, exam_id: UUID) -> Response:
        """Answer 201 with the attempt just started, or 200 with the one that is open already; asking twice is safe."""
        started = start_attempt(exam_id=exam_id, student_id=self.person_id)
        view = get_attempt(attempt_id=started.attempt.pk, student_id=self.person_id)
        return _respond(view, status.HTTP_201_CREATED if started.is_new else status.HTTP_200_OK)


class AttemptDetail(SignedInView):
    """One attempt."""

    @extend_schema(
        operation_id="get_attempt",
        summary="Look at an attempt",
        responses={200: AttemptSerializer} | refusals(NotFound, NotYetCertain),
    )
    def get(self, request: Request, attempt_id: UUID) -> Response:
        """Answer with the attempt as it is now: its deadline may move, and after Submit its state follows the grading."""
        return _respond(get_attempt(attempt_id=attempt_id, student_id=self.person_id), status.HTTP_200_OK)


class AttemptStanding(SignedInView):
    """How one attempt stands, for a page that has its paper already."""

    @extend_schema(
        operation_id="get_attempt_standing",
        summary="Ask how an attempt stands, without its paper",
        responses={200: StandingSerializer} | refusals(NotFound, NotYetCertain),
    )
    def get(self, request: Request, attempt_id: UUID) -> Response:
        """Answer with what may have changed since the attempt was fetched. For polling: neither paper nor answers are read."""
        view = get_standing(attempt_id=attempt_id, student_id=self.person_id)
        context = {"zone": view.attempt.exam.school.time_zone}
        return Response(StandingSerializer(view, context=context).data)


class AttemptDraft(SignedInView):
    """The answers kept for an attempt while it is open."""

    @extend_schema(
        operation_id="save_draft",
        summary="Save the answers so far",
        request=DraftForm,
        responses={200: SavedSerializer}
        | refusals(
            *READING_A_BODY, NotFound, StaleDraft, AttemptClosed, ForeignPage, RateLimited, OutcomeUnknown
        ),
    )
    def put(self, request: Request, attempt_id: UUID) -> Response:
        """Keep all answers, as the last save's successor. At the deadline the server hands in what was kept last.

        A lost answer is no problem: send the same request again. `stale_draft` carries the `token` and `saved_at` of what is kept.
        """
        take_save(self.person_id)
        saved = save_draft(attempt_id=attempt_id, student_id=self.person_id, **read_body(request, DraftForm))
        return Response(SavedSerializer(saved, context={"zone": saved.zone}).data)


def _respond(view: AttemptView, code: int) -> Response:
    context = {"zone": view.attempt.exam.school.time_zone}
    return Response(AttemptSerializer(view, context=context).data, status=code)
