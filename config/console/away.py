"""The console without a database: a page that says so, for whoever asks, because nobody can be recognised.

Reading a session would hang with a frozen database, just when the console is needed most. So this stands in front of all
middleware that reads one, and looks at the database by a look that cannot hang (`config.readiness`).
"""

from collections.abc import Awaitable, Callable
from typing import Final

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

from config.readiness import find_faults

_CONSOLE: Final = "/console/"

Answer = HttpResponseBase
GetResponse = Callable[[HttpRequest], Answer | Awaitable[Answer]]


class DatabaseAway:
    """Middleware, for both of Django's modes: it costs other pages a comparison of their path."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response
        self._is_async = bool(iscoroutinefunction(get_response))
        if self._is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Answer | Awaitable[Answer]:
        """Answer the request, or say why not."""
        if not request.path.startswith(_CONSOLE):
            return self._get_response(request)
        if self._is_async:
            return self._answer_later(request)
        return _say_away() if _is_away() else self._get_response(request)

    async def _answer_later(self, request: HttpRequest) -> Answer:
        if await sync_to_async(_is_away, thread_sensitive=False)():
            return _say_away()
        response = self._get_response(request)
        assert isinstance(response, Awaitable)
        return await response


def _is_away() -> bool:
    return find_faults()["database"] is not None


def _say_away() -> HttpResponse:
    answer = HttpResponse(render_to_string("console/away.html"), status=503, headers={"Retry-After": "5"})
    answer._has_been_logged = True  # type: ignore[attr-defined] # noqa: SLF001 - as for /healthz
    return answer
