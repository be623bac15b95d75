"""What the person who asks has been told, and noting it as read."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from exams.api.authentication import SignedInView
from exams.api.bodies import read_body
from exams.api.problems import READING_A_BODY, refusals
from exams.errors import OutcomeUnknown
from gradebook.models import Notification
from gradebook.queries.notifications import MOST_LISTED, count_unread, list_notifications
from gradebook.services.notifications import mark_read


class NotificationSerializer(serializers.ModelSerializer[Notification]):
    """One line. `count` is how often it happened before it was read; `address` is a path on this site."""

    class Meta:
        model = Notification
        fields = ["id", "text", "address", "count", "occurred_at", "read_at"]


class UnreadSerializer(serializers.Serializer[Any]):
    """How many lines are not read."""

    unread = serializers.IntegerField(min_value=0)


class ReadSerializer(serializers.Serializer[Any]):
    """Which lines were read; without `ids` all of them."""

    ids = serializers.ListField(child=serializers.UUIDField(), max_length=MOST_LISTED, required=False)


class Notifications(SignedInView):
    """The latest lines."""

    @extend_schema(
        operation_id="list_notifications",
        summary="List your notifications",
        responses={200: NotificationSerializer(many=True)} | refusals(),
    )
    def get(self, request: Request) -> Response:
        """Answer with the latest, at most 100."""
        lines = list_notifications(person_id=self.person_id)
        return Response(NotificationSerializer(lines, many=True).data)


class UnreadNotifications(SignedInView):
    """Their number."""

    @extend_schema(
        operation_id="count_unread_notifications",
        summary="Count your unread notifications",
        responses={200: UnreadSerializer} | refusals(),
    )
    def get(self, request: Request) -> Response:
        """Answer with the number of lines you have not read."""
        return Response({"unread": count_unread(person_id=self.person_id)})


class ReadNotifications(SignedInView):
    """Reading them."""

    @extend_schema(
        operation_id="read_notifications",
        summary="Note notifications as read",
        request=ReadSerializer,
        responses={200: UnreadSerializer} | refusals(*READING_A_BODY, OutcomeUnknown),
    )
    def post(self, request: Request) -> Response:
        """Note these as read, or all when no `ids` are named; answer with the number left. Repeating it is harmless."""
        body = read_body(request, ReadSerializer)
        mark_read(person_id=self.person_id, ids=body.get("ids"))
        return Response({"unread": count_unread(person_id=self.person_id)})
