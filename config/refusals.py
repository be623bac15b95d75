"""What Django answers when no view did: a problem below `/api/`, a page for people everywhere else."""

import sys

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt

from config.admission.busy import give_up_on, turn_away_in_django
from outbox.db import is_transient
from outbox.problems import CONTENT_TYPE, Problem

_WORDS = {
    400: ("malformed", "This request cannot be understood."),
    403: ("permission_denied", "You may not do this."),
    404: ("not_found", "There is nothing of yours here."),
    413: ("too_large", "The request is larger than an exam may be."),
    500: (
        "internal_error",
        "Something went wrong here; it has been noted. Sending the same request again is safe.",
    ),
}


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400, or 413 when the body was too large (Django counts that as a bad request)."""
    return refuse(request, 413 if isinstance(exception, RequestDataTooBig) else 400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403."""
    return refuse(request, 403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer 403 to a form that did not come from a page of ours, or from one that is too old."""
    return refuse(
        request, 403, "This page was open for too long, or cookies are off. Go back, reload it, try again."
    )


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404."""
    return refuse(request, 404)


@csrf_exempt  # nothing is done here, and a client that mistyped an address should hear just that
def api_not_found(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Answer 404 to any address below `/api/` that does not exist: JSON also where Django would show its debug page."""
    return refuse(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500, saying nothing about our insides; 503 where it was the database's, and will pass. That page asks for no person: it could not."""
    error = sys.exception()  # the one being answered
    if error is None or not is_transient(error):
        return refuse(request, 500)
    return turn_away_in_django(request, give_up_on(request.method or ""))


def refuse(request: HttpRequest, status: int, detail: str = "") -> HttpResponse:
    """Answer with this status in the form the address speaks."""
    code, title = _WORDS[status]
    if not request.path.startswith("/api/"):
        return render(
            request, "refusal.html", {"status": status, "title": title, "detail": detail}, status=status
        )
    problem = Problem(code, status, title, detail or title)
    return JsonResponse(problem.body(), status=status, content_type=CONTENT_TYPE)
