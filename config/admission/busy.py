"""What somebody hears who is turned away before Django: a problem below `/api/`, a plain page for people everywhere else.

Made of what is in memory. The page is rendered once a process and asks for neither the person nor the session.
"""

import functools

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from config.admission.tiers import SAFE_METHODS
from exams.errors import CannotBeSafe, ExamsError, NotInTime, OutcomeUnknown
from exams.gate.admission import draw_retry_after
from exams.gate.responses import Response, refuse

_TYPE, _HTML = b"content-type", b"text/html; charset=utf-8"
_POLICY = b"default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"


def turn_away(path: str, error: ExamsError, *, is_safe: bool) -> Response:
    """Return the refusal in the form this address speaks."""
    response = refuse(error)
    if path.startswith("/api/") or path.endswith("/marks"):  # the grid's saves, made by a script
        return response
    page = _render_page(_choose_words(error), is_safe=is_safe)
    kept = [header for header in response.headers if header[0] not in {_TYPE, b"content-length"}]
    head = [
        (_TYPE, _HTML),
        (b"content-length", b"%d" % len(page)),
        (b"content-security-policy", _POLICY),
        *kept,
    ]
    return Response(response.status, head, page)


def turn_away_in_django(request: HttpRequest, error: ExamsError) -> HttpResponse:
    """Return the same, from inside of Django."""
    refusal = turn_away(request.path, error, is_safe=request.method in SAFE_METHODS)
    headers = {name.decode(): value.decode() for name, value in refusal.headers}
    return HttpResponse(refusal.body, status=refusal.status, headers=headers)


def give_up_on(method: str) -> ExamsError:
    """Return what is true of a request whose answer does not come: a read changed nothing, of anything else nobody knows."""
    if method in SAFE_METHODS:
        return NotInTime(retry_after=draw_retry_after())
    return OutcomeUnknown(retry_after=draw_retry_after())


def _choose_words(error: ExamsError) -> str:
    match error:
        case CannotBeSafe():
            return "not_safe"
        case NotInTime():
            return "not_in_time"
    return error.code


@functools.cache
def _render_page(code: str, *, is_safe: bool) -> bytes:
    return render_to_string("busy.html", {"code": code, "is_safe": is_safe}).encode()
