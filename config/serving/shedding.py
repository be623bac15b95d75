"""How a crowd is told to come back: a submission that would be refused anyway is recognised by its bytes and answered ready-made.

At five times too much, most of what arrives is refused, and each refusal takes time from a hand-in. So nothing is made for one:
no parser, no exception, no response. What is written is to the byte what the gate says (`exams.gate.asgi.list_refusals`) to a request
without an id of its own; one it brings (`X-Request-ID`) is not looked for. Whatever does not look exactly like a plain submission takes the
long way.
"""

import asyncio
import random
import re
from collections.abc import Sequence

from config.serving.corked import Headers, write_response
from exams.gate.admission import count_shed
from exams.gate.responses import Response

_LINE = re.compile(rb"POST /api/v1/attempts/[0-9A-Za-z-]+/submission HTTP/1\.1\r\n")
_STAYS = b"\r\nconnection: keep-alive\r\n"


def is_plainly_whole(data: bytes) -> bool:
    """Say whether these bytes are, beyond doubt, one whole submission and nothing else, on a connection that stays.

    It is refused whatever else it says, so only where it ends matters: the headers that decide this may occur in one spelling or not at
    all. (`Expect` is no trouble: the body is here, and a refusal is an answer to it too.)
    """
    end = data.find(b"\r\n\r\n")
    if end < 0 or _LINE.match(data) is None:
        return False
    head = data[: end + 2].lower()
    if b"\r\nconnection" in head and head.count(b"\r\nconnection") != head.count(_STAYS):
        return False
    length = b"\r\ncontent-length: %d\r\n" % (len(data) - end - 4)
    return length in head and head.count(b"content-length") == 1 and b"transfer-encoding" not in head


class Refusals:
    """The ready-made answers of one process, and how many were given."""

    def __init__(self, responses: Sequence[Response]) -> None:
        self._responses = responses
        self._server_headers: Headers | None = None
        self._ready: list[bytes] = []
        self._uncounted = 0

    def draw(self, server_headers: Headers) -> bytes:
        """Return one of the answers, and count it. The server's headers are a new list each second: they tell the time."""
        if server_headers is not self._server_headers:
            self._server_headers = server_headers
            self._ready = [write_response(response, server_headers) for response in self._responses]
        if not self._uncounted:
            asyncio.get_running_loop().call_soon(self._count)
        self._uncounted += 1
        return self._ready[int(random.random() * len(self._ready))]  # noqa: S311 - spreads tries, keeps no secret

    def _count(self) -> None:
        """Add to the meter what one turn of the loop has refused: one by one it would cost as much as the refusals."""
        count_shed("submit", self._uncounted)
        self._uncounted = 0
