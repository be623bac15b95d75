"""With `quorum`, nobody is told that something was saved before enough standbys have it; what cannot be made safe is not begun.

Django's connections commit on the primary's own disk (`COMMITS_HERE`): a commit that waited for standbys could wait for ever. So the
barrier of ADR 0011 stands here, behind the whole request: where the log ended afterwards is compared with what the standbys have flushed.
Signing in and out pass: a lost session costs a second sign-in, and a page that cannot be left would cost more.
"""

from collections.abc import Callable
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from config.admission.busy import turn_away_in_django
from config.admission.tiers import SAFE_METHODS, classify
from exams.errors import CannotBeSafe, OutcomeUnknown
from exams.gate.admission import count_shed, draw_retry_after
from outbox.quorum import await_quorum, find_quorum_problem

BARRIER_SECONDS: Final = 2.5  # as the gate's
_PASSING: Final = frozenset({"login", "logout", "admin:login", "admin:logout", "api-tokens"})
_CONFLICT: Final = 409  # the one refusal that says how something stands


class SafeWrites(MiddlewareMixin):
    """Middleware outside everything that commits; not there at all at the level `local`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if settings.DURABILITY != "quorum":
            raise MiddlewareNotUsed
        super().__init__(get_response)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        """Shed before anything is done while too few standbys follow. Memory only."""
        if not _is_to_be_safe(request) or find_quorum_problem() is None:
            return None
        count_shed(classify(request.method or "", request.path))
        return turn_away_in_django(request, CannotBeSafe(retry_after=draw_retry_after()))

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Let an answer out that says what was done once it is safe; else say that nobody knows."""
        if not _is_to_be_safe(request) or not _tells(response) or await_quorum(seconds=BARRIER_SECONDS):
            return response
        return turn_away_in_django(request, OutcomeUnknown(retry_after=draw_retry_after()))


def _is_to_be_safe(request: HttpRequest) -> bool:
    """Say whether the request may change what must not be lost."""
    if request.method in SAFE_METHODS:
        return False
    match = request.resolver_match
    return match is None or match.view_name not in _PASSING


def _tells(response: HttpResponseBase) -> bool:
    """Say whether the answer speaks of what is stored now; a refusal does not."""
    return response.status_code < 400 or response.status_code == _CONFLICT  # noqa: PLR2004 - HTTP's own border
