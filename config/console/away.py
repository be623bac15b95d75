"""The console without a database: a page that says so, for whoever asks, because nobody can be recognised.

Reading a session would hang with a frozen database, just when the console is needed most. So this stands in front of all
middleware that reads one, and looks at the database by a look that cannot hang (`config.health.readiness`).
"""

from collections.abc import Awaitable
from typing import Final

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from config.health.readiness import find_faults
from config.middleware.both_modes import Answer, BothModes

_CONSOLE: Final = "/console/"


class DatabaseAway(BothModes):
    """Middleware that costs other pages a comparison of their path."""

    def __call__(self, request: HttpRequest) -> Answer | Awaitable[Answer]:
        """Answer the request, or say why not."""
        if not request.path.startswith(_CONSOLE):
            return self.get_response(request)
        if self.is_async:
            return self._answer_later(request)
        return _say_away() if _is_away() else self.get_response(request)

    async def _answer_later(self, request: HttpRequest) -> Answer:
        if await sync_to_async(_is_away, thread_sensitive=False)():
            return _say_away()
        return await self.get_response_later(request)


def _is_away() -> bool:
    return find_faults()["database"] is not None


def _say_away() -> HttpResponse:
    answer = HttpResponse(render_to_string("console/away.html"), status=503, headers={"Retry-After": "5"})
    answer._has_been_logged = True  # type: ignore[attr-defined] # noqa: SLF001 - as for /healthz
    return answer
