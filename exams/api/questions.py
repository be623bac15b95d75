"""What a question looks like in the API. For the schema only: the frozen paper is sent as it is, for it holds nothing else."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from exams.models import QuestionKind


class Choice(serializers.Serializer[Any]):
    """Something to choose, or to match a prompt with."""

    id = serializers.CharField()
    text = serializers.CharField()


class Question(serializers.Serializer[Any]):
    """One question. `choices` with single_choice, multiple_choice and matching; `prompts` with matching."""

    id = serializers.CharField()
    kind = serializers.ChoiceField(choices=QuestionKind.values)
    text = serializers.CharField()
    text_format = serializers.ChoiceField(choices=["plain", "html"])
    points = serializers.FloatField()
    choices = Choice(many=True, required=False)
    prompts = Choice(many=True, required=False)


@extend_schema_field(Question(many=True))
class Questions(serializers.JSONField):
    """The paper of a revision."""
