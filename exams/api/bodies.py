"""The one way a body is read: strict JSON in UTF-8, of a bounded size, then its fields. The gate reads by the same rules.

DRF's parsers are not used: they take a body of unknown length (`Transfer-Encoding: chunked`) for an empty one.
"""

from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from exams import strict_json
from exams.errors import TooLarge, UnsupportedMediaType
from exams.media_type import LARGEST_BODY, is_json


def read_body(request: Request, form: type[Serializer[Any]], **context: Any) -> dict[str, Any]:
    """Return the body's fields as this form cleans them, or raise what names the fault and its place."""
    serializer = form(data=_read_json(request), context=context)
    serializer.is_valid(raise_exception=True)
    fields: dict[str, Any] = serializer.validated_data
    return fields


def _read_json(request: Request) -> Any:
    """Return the body as JSON, numbers as int or Decimal; no body at all is an empty object."""
    http = request._request  # noqa: SLF001 - Django's request, whose body nobody has read yet
    body = http.read(LARGEST_BODY + 1)
    if len(body) > LARGEST_BODY:
        raise TooLarge
    if not body:
        return {}
    _check_media_type(http)
    return strict_json.load(body)


def _check_media_type(http: HttpRequest) -> None:
    if "Content-Encoding" in http.headers or not is_json(http.headers.get("Content-Type", "")):
        raise UnsupportedMediaType
