"""What was answered to a person stays in no cache: on a computer of the school the next one presses Back after the sign-out."""

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

PRIVATE = "private, no-store"


class PrivateAnswers(MiddlewareMixin):
    """Forbids keeping an answer to somebody who said who they are, unless the view has said how it may be kept.

    Behind the static files, which are everybody's.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Add the header where there is none."""
        if request.headers.get("Cookie") or request.headers.get("Authorization"):
            response.headers.setdefault("Cache-Control", PRIVATE)
        return response
