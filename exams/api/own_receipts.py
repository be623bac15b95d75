"""The receipts of the student who asks, to keep and to print."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from exams.api.authentication import SignedInView
from exams.api.problems import refusals
from exams.errors import NotYetCertain
from exams.models import Decision
from exams.queries.receipts import list_receipts
from exams.receipt_keys import get_key_ring
from exams.receipts import Receipt, sign_receipt


class ReceiptSerializer(serializers.Serializer[Any]):
    """What was accepted, signed (Ed25519) so that anybody can check it with `/api/v1/receipt-keys`."""

    id = serializers.UUIDField()
    attempt_id = serializers.UUIDField()
    attempt_key = serializers.CharField()
    exam_id = serializers.UUIDField()
    exam_revision = serializers.IntegerField()
    payload_sha256 = serializers.CharField()
    accepted_at = serializers.DateTimeField()
    deadline = serializers.DateTimeField()
    decision = serializers.ChoiceField(choices=Decision.values)
    key_id = serializers.CharField()
    signature = serializers.CharField()


class OwnReceipts(SignedInView):
    """All receipts."""

    @extend_schema(
        operation_id="list_receipts",
        summary="List your receipts",
        responses={200: ReceiptSerializer(many=True)} | refusals(NotYetCertain),
    )
    def get(self, request: Request) -> Response:
        """Answer with the receipts of everything handed in by or for the student, the latest first; at most 200."""
        ring = get_key_ring()
        submissions = list_receipts(student_id=self.person_id)
        return Response([sign_receipt(Receipt.of(submission), ring) for submission in submissions])
