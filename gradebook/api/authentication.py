"""Who is asking, where a page of ours asks: the session, with CSRF checked by the header alone.

Django looks for the token of a POST in the body first, and so DRF would parse the body before anybody has bounded its size or depth.
Our pages send `X-CSRFToken`; the body stays unread for the strict parser behind the door.
"""

import copy

from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request


class PageSession(SessionAuthentication):
    """DRF's session authentication, which never touches the body."""

    def enforce_csrf(self, request: Request) -> None:
        """Refuse whoever does not send the token of their cookie as a header; the body is not asked."""
        asked = copy.copy(getattr(request, "_request", request))  # Django's own: DRF's wrapper would parse
        if asked.method == "POST":
            asked.method = "PUT"  # as unsafe, and Django knows that it has no form
        super().enforce_csrf(asked)
