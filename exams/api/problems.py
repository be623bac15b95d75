"""How refusals appear in the schema: the one problem body, and which codes an address can answer with."""

from collections import defaultdict
from typing import Any

from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

from exams.errors import (
    ExamsError,
    InvalidToken,
    Malformed,
    NotAuthenticated,
    Overloaded,
    TooLarge,
    UnsupportedMediaType,
)
from outbox.problems import CONTENT_TYPE

Responses = dict[Any, Any]

READING_A_BODY = (Malformed, TooLarge, UnsupportedMediaType)


class FieldProblem(serializers.Serializer[Any]):
    """One thing wrong with the body; `pointer` is a JSON pointer into it."""

    pointer = serializers.CharField()
    detail = serializers.CharField()
    code = serializers.CharField()


class Problem(serializers.Serializer[Any]):
    """Why a request was refused (RFC 9457). Clients decide by `code`; some codes have members of their own."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField()
    errors = FieldProblem(many=True, required=False)  # type: ignore[assignment]  # a field, not what DRF found wrong


def refusals(*errors: type[ExamsError], signed_in: bool = True) -> Responses:
    """Return the responses these errors become, one a status, each naming its codes; any address may be shed (`config.admission.slots`)."""
    by_status: defaultdict[int, list[type[ExamsError]]] = defaultdict(list)
    needs_token: tuple[type[ExamsError], ...] = (NotAuthenticated, InvalidToken) if signed_in else ()
    may: tuple[type[ExamsError], ...] = (Overloaded, *errors, *needs_token)
    for error in may:
        by_status[error.status].append(error)
    return {(status, CONTENT_TYPE): _response(together) for status, together in sorted(by_status.items())}


def _response(errors: list[type[ExamsError]]) -> OpenApiResponse:
    lines = [f"`{error.code}`: {(error.__doc__ or '').strip()}" for error in errors]
    return OpenApiResponse(Problem, description="\n\n".join(lines))
