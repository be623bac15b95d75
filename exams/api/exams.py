"""The exams a student may sit."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from exams.api.authentication import SignedInView
from exams.api.fields import LocalTime
from exams.api.problems import refusals
from exams.errors import NotYetCertain
from exams.models import AttemptState
from exams.queries.exams import ExamView, list_exams


class OwnAttemptSerializer(serializers.Serializer[Any]):
    """One attempt of the student's; more about it at `/api/v1/attempts/{id}`."""

    id = serializers.UUIDField()
    number = serializers.IntegerField()
    state = serializers.ChoiceField(choices=AttemptState.values)
    started_at = LocalTime()
    closes_at = LocalTime()


class ExamSerializer(serializers.Serializer[ExamView]):
    """One exam. `closes_at` is the student's own: of the attempt under way, else the latest that one started later could have."""

    id = serializers.UUIDField(source="exam.id")
    title = serializers.CharField(source="exam.title")
    opens_at = LocalTime(source="exam.opens_at")
    closes_at = LocalTime()
    deadline_rule = serializers.CharField()
    last_start = LocalTime(source="times.last_start")
    time_limit_seconds = serializers.SerializerMethodField()
    attempts_allowed = serializers.IntegerField(source="exam.attempts_allowed")
    attempts = OwnAttemptSerializer(many=True)
    may_start = serializers.BooleanField()
    server_now = LocalTime(source="read_at")

    def get_time_limit_seconds(self, view: ExamView) -> int | None:
        """The time limit of an attempt, without anybody's extra time; null where there is none."""
        limit = view.exam.time_limit
        return None if limit is None else int(limit.total_seconds())


class Exams(SignedInView):
    """The exams of the student who asks."""

    @extend_schema(
        operation_id="list_exams",
        summary="List the exams you may sit",
        responses={200: ExamSerializer(many=True)} | refusals(NotYetCertain),
    )
    def get(self, request: Request) -> Response:
        """Answer with the exams given to your classes, past ones too, the one that opens last first; at most 200."""
        views = list_exams(student_id=self.person_id)
        return Response([_write(view) for view in views])


def _write(view: ExamView) -> dict[str, Any]:
    return ExamSerializer(view, context={"zone": view.exam.school.time_zone}).data
