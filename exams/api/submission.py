"""The submission's address as the schema shows it. The gate answers it (`exams.gate`), in front of Django; see `config.asgi`."""

from typing import Any, NoReturn
from uuid import UUID

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from exams.api.authentication import BearerAuthentication, SignedInView
from exams.api.fields import AnswersField
from exams.api.own_receipts import ReceiptSerializer
from exams.api.problems import READING_A_BODY, refusals
from exams.errors import (
    AttemptClosed,
    DifferentAnswers,
    NotFound,
    OutcomeUnknown,
    Overloaded,
    RateLimited,
    TooSlow,
)


class AnswersForm(serializers.Serializer[Any]):
    """All answers, whether or not a draft was saved."""

    answers = AnswersField()


class AttemptSubmission(SignedInView):
    """Handing in."""

    authentication_classes = [BearerAuthentication]

    @extend_schema(
        operation_id="submit_attempt",
        summary="Hand in",
        request=AnswersForm,
        responses={
            202: OpenApiResponse(ReceiptSerializer, description="Accepted and stored for good."),
            200: OpenApiResponse(
                ReceiptSerializer,
                description="Equal answers were accepted before: the same receipt, with `Idempotent-Replayed: true`.",
            ),
        }
        | refusals(
            *READING_A_BODY,
            TooSlow,
            NotFound,
            DifferentAnswers,
            AttemptClosed,
            RateLimited,
            OutcomeUnknown,
        ),
    )
    def post(self, request: Request, attempt_id: UUID) -> NoReturn:
        """Hand in the answers and get a signed receipt; sending the same request again is always safe.

        Once this has answered 202 the work is safe. After a 503 send the same request again, whatever its code: it is not a refusal.
        """
        raise Overloaded(
            "This process serves without the gate (config.asgi); nothing was stored.", retry_after=5
        )
