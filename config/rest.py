"""Every error the API can meet, mapped to one problem+json body: ours, DRF's, and Django's.

The one thing to know: whatever is not mapped here is our fault and becomes a 500 with nothing of ours in it
(`config.refusals`), so a hostile request must always be turned into one of these first.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from rest_framework import exceptions
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import set_rollback

from outbox.problems import CONTENT_TYPE, FieldError, Problem, describe_error

TOO_LARGE = "The request is larger than an exam may be."

# DRF's exceptions by class, most special first: our code, and the title of every occurrence.
_TITLES: dict[type[exceptions.APIException], tuple[str, str]] = {
    exceptions.ParseError: ("malformed", "The request is not in the written form; `errors` says where."),
    exceptions.ValidationError: ("malformed", "The request is not in the written form; `errors` says where."),
    exceptions.NotAuthenticated: ("not_authenticated", "Sign in first: send a bearer token."),
    exceptions.AuthenticationFailed: ("authentication_failed", "This sign-in or token is not valid."),
    exceptions.PermissionDenied: ("permission_denied", "You may not do this."),
    exceptions.NotFound: ("not_found", "There is nothing of yours here."),
    exceptions.MethodNotAllowed: ("method_not_allowed", "This address does not take this method."),
    exceptions.NotAcceptable: ("not_acceptable", "This address answers with JSON."),
    exceptions.UnsupportedMediaType: ("unsupported_media_type", "Send JSON, as application/json in UTF-8."),
    exceptions.Throttled: (
        "rate_limited",
        "Too many requests at once; please wait as long as Retry-After says.",
    ),
}


class LenientNegotiation(DefaultContentNegotiation):
    """Answer in JSON also to a client that asks for something else: a readable refusal beats a 406."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the best renderer, or the first when none is acceptable."""
        offered = list(renderers)
        try:
            chosen: tuple[BaseRenderer, str] = super().select_renderer(request, offered, format_suffix)
        except exceptions.NotAcceptable:
            return offered[0], str(offered[0].media_type)
        return chosen


def handle_exception(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Return the problem response for an error DRF caught, or None to let it become a 500."""
    problem = describe_error(error) or _describe_api_error(_as_api_error(error))
    if problem is None:
        return None
    set_rollback()
    response = Response(
        problem.body(), status=problem.status, headers=problem.headers(), content_type=CONTENT_TYPE
    )
    for name, value in _standard_headers(error, context).items():
        response[name] = value
    return response


def _as_api_error(error: Exception) -> Exception:
    """Turn Django's own refusals into DRF's, so that one table maps them all."""
    match error:
        case Http404():
            return exceptions.NotFound()
        case PermissionDenied():
            return exceptions.PermissionDenied()
        case BadRequest() | SuspiciousOperation() | UnicodeError() if not isinstance(
            error, RequestDataTooBig
        ):
            return exceptions.ParseError()
    return error


def _describe_api_error(error: Exception) -> Problem | None:
    if isinstance(error, RequestDataTooBig):
        return Problem("too_large", 413, TOO_LARGE, str(error) or TOO_LARGE)
    if not isinstance(error, exceptions.APIException):
        return None
    code, title = next(
        (entry for kind, entry in _TITLES.items() if isinstance(error, kind)), ("api_error", "Refused.")
    )
    errors = tuple(_list_field_errors(error.detail)) if isinstance(error, exceptions.ValidationError) else ()
    detail = title if isinstance(error.detail, dict | list) else str(error.detail)
    wait = getattr(error, "wait", None)
    retry_after = None if wait is None else max(1, int(wait))
    return Problem(code, error.status_code, title, detail, errors, retry_after)


def _list_field_errors(detail: Any, pointer: str = "") -> Iterator[FieldError]:
    """Walk DRF's nested details and name each leaf by the JSON pointer of its field."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            step = "" if name == "non_field_errors" else "/" + str(name).replace("~", "~0").replace("/", "~1")
            yield from _list_field_errors(inner, pointer + step)
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            nested = isinstance(inner, dict | list)
            yield from _list_field_errors(inner, f"{pointer}/{index}" if nested else pointer)
    else:
        yield FieldError(pointer, str(detail), getattr(detail, "code", "invalid"))


def _standard_headers(error: Exception, context: Mapping[str, Any]) -> dict[str, str]:
    """Return what HTTP itself asks for: how to sign in (401), and which methods there are (405)."""
    headers = {}
    challenge = getattr(error, "auth_header", None)
    if challenge:
        headers["WWW-Authenticate"] = challenge
    if isinstance(error, exceptions.MethodNotAllowed) and context.get("view") is not None:
        headers["Allow"] = ", ".join(context["view"].allowed_methods)
    return headers
