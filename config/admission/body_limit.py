"""No body is larger than its address could use, and none that is reaches Django, which would first write all of it to a file.

Whoever sends it need not be anybody: without a bound a stranger fills the disk that the database is on. Refused by what its head
declares, before anything of it is read; without a Content-Length, as soon as too much has come.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from config.admission.busy import turn_away
from config.admission.tiers import SAFE_METHODS
from exams.errors import TooLarge
from exams.gift.reader import LARGEST_FILE
from exams.media_type import LARGEST_BODY

Message = MutableMapping[str, Any]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_FORM = LARGEST_FILE + 1024 * 1024  # the largest file a page takes, and the form around it


def limit_bodies(application: Application) -> Application:
    """Return the application behind the limit."""

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        room = LARGEST_BODY if scope["path"].startswith("/api/") else LARGEST_FORM
        scale = _Scale(receive, room)
        scale.weigh(_read_declared(scope))
        if not scale.is_over:
            await application(scope, scale.receive, send)
        if scale.is_over:  # then the application has answered nothing: it was told that the client is gone
            response = turn_away(scope["path"], TooLarge(), is_safe=scope["method"] in SAFE_METHODS)
            await send(
                {"type": "http.response.start", "status": response.status, "headers": response.headers}
            )
            await send({"type": "http.response.body", "body": response.body})

    return limited


class _Scale:
    """Passes a body on until it is too large; from then on nothing more is taken."""

    def __init__(self, receive: Receive, room: int) -> None:
        self._receive = receive
        self._room = room
        self.is_over = False

    def weigh(self, size: int) -> None:
        self.is_over = size > self._room

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] != "http.request":
            return message
        size = len(message.get("body", b""))
        self.weigh(size)
        self._room -= size
        return {"type": "http.disconnect"} if self.is_over else message


def _read_declared(scope: Scope) -> int:
    """Return the Content-Length; 0 where there is none or it is no number, which the web server refuses itself."""
    declared = dict(scope["headers"]).get(b"content-length", b"0")
    return int(declared[:20]) if declared.isdigit() else 0
