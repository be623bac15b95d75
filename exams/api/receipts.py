"""One receipt, and the keys that anybody can verify receipts with."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from exams.api.authentication import SignedInView
from exams.api.own_receipts import ReceiptSerializer
from exams.api.problems import refusals
from exams.errors import NotFound, NotYetCertain
from exams.queries.receipts import describe_receipt, find_place, get_receipt
from exams.receipt_keys import get_key_ring, write_key_set

_KEYS_SECONDS = 3600  # a rotation adds a key; whoever meets an unknown one asks again


class Position(serializers.Serializer[Any]):
    """A place in the event log."""

    epoch = serializers.IntegerField()
    shard = serializers.IntegerField()
    pos = serializers.IntegerField()


class Tick(serializers.Serializer[Any]):
    """The pass that gave the place, and the digest that chains it to everything before (hexadecimal)."""

    id = serializers.IntegerField()
    digest = serializers.CharField()


class PlacedReceipt(ReceiptSerializer):
    """A receipt with its place in the log, as soon as it has one. The place is not signed: the log's digests prove it."""

    position = Position(required=False)
    tick = Tick(required=False)


class PublicKey(serializers.Serializer[Any]):
    """An Ed25519 key (RFC 8037); `kid` is a receipt's `key_id`, `x` the key in base64url."""

    kty = serializers.CharField()
    crv = serializers.CharField()
    use = serializers.CharField()
    alg = serializers.CharField()
    kid = serializers.CharField()
    x = serializers.CharField()


class KeySet(serializers.Serializer[Any]):
    """A JSON Web Key Set."""

    keys = PublicKey(many=True)


class ReceiptDetail(SignedInView):
    """A receipt of the student's own."""

    @extend_schema(
        operation_id="get_receipt",
        summary="Read a receipt",
        responses={200: PlacedReceipt} | refusals(NotFound, NotYetCertain),
    )
    def get(self, request: Request, receipt_id: UUID) -> Response:
        """Answer with the receipt, the same at every time but for `position` and `tick`, which come a moment later."""
        submission = get_receipt(receipt_id=receipt_id, student_id=self.person_id)
        return Response(describe_receipt(submission, find_place(submission)))


class ReceiptKeys(APIView):
    """Public to everybody."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(
        operation_id="list_receipt_keys",
        summary="Read the keys receipts are signed with",
        responses={200: KeySet} | refusals(signed_in=False),
        auth=[],
    )
    def get(self, request: Request) -> Response:
        """Answer with all keys that ever signed, the present one among them. Keep a copy with your receipts."""
        keys = write_key_set(get_key_ring().public_keys())
        return Response(keys, headers={"Cache-Control": f"public, max-age={_KEYS_SECONDS}"})
