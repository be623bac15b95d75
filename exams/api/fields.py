"""The few field types of our own, so that a moment and an answer are written the same way everywhere."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from exams.canonical import read_answers, write_number
from exams.local_time import write_local


class LocalTime(serializers.DateTimeField):
    """A moment in the school's time zone, which the serializer's context names as `zone`, with its UTC offset."""

    def to_representation(self, value: datetime) -> str:
        """Return the ISO 8601 text."""
        return write_local(value, self.context["zone"])


class TokenText(serializers.UUIDField):
    """A token we gave out: its text and nothing else. (DRF would take a number for a UUID too.)"""

    def to_internal_value(self, data: Any) -> UUID:
        """Return the UUID."""
        if not isinstance(data, str):
            self.fail("invalid", value=data)
        return super().to_internal_value(data)


@extend_schema_field(OpenApiTypes.NUMBER)
class Points(serializers.Field[Decimal, Any, float, Any]):
    """Points as a JSON number, like those of the questions. They have three decimals at most, so a double carries them exactly."""

    def to_representation(self, value: Decimal) -> float:
        """Return the number, whole where it is."""
        return int(value) if value == value.to_integral_value() else float(value)


_TEXT = {"type": "string"}
_ANSWERS = {
    "type": "object",
    "description": "Question id and answer; what an answer is depends on the question's kind, see *Answers* at the top.",
    "additionalProperties": {
        "anyOf": [
            _TEXT,
            {"type": "number"},
            {"type": "boolean"},
            {"type": "array", "items": _TEXT},
            {"type": "object", "additionalProperties": _TEXT},
            {"type": "null"},
        ]
    },
}


@extend_schema_field(_ANSWERS)
class AnswersField(serializers.Field[Any, Any, dict[str, Any], Any]):
    """Question id → answer. Stored as canonical text; what is not an answer at all is refused when that text is made."""

    def to_internal_value(self, data: Any) -> Any:
        """Take the value as the strict parser read it: `exams.canonical` is the judge of answers, with pointers of its own."""
        return data

    def to_representation(self, value: str) -> dict[str, Any]:
        """Return the answers in a canonical text."""
        return {question_id: _plain(answer) for question_id, answer in read_answers(value).items()}


def _plain(answer: Any) -> Any:
    """Return a decimal as the number JSON can carry, or as a numeric string (which counts alike) where that would round it."""
    if not isinstance(answer, Decimal):
        return answer
    number = float(answer)
    return number if Decimal(repr(number)) == answer else write_number(answer)
