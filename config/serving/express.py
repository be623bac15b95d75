"""The express lane of the web server: a submission that arrives in one piece goes to the gate without uvicorn's request cycle.

Nearly every submission is such a piece: head and body together are smaller than what one read from the socket returns. For it
uvicorn would make a scope, a task, an event and two messages, which took a third of all the processor time of a hand-in
(ADR 0003). Here the bytes are parsed by the same parser, httptools, with nothing done until the request has proved to be
whole, plain and alone. Whatever is not (no POST to a submission, cut in two, several in a row, HTTP/1.0, `Expect`,
`Connection: close`, malformed) is given to uvicorn from its first byte, as if nobody had looked.
"""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from config.serving.corked import CorkedTransport, write_response
from config.serving.shedding import Refusals, is_plainly_whole
from exams.gate.responses import Response

TakeWhole = Callable[[str, dict[bytes, bytes], bytes, Callable[[Response], None]], None]

_BEGIN = b"POST /api/v1/attempts/"
_SUBMISSION = re.compile(rb"/api/v1/attempts/[0-9A-Za-z-]+/submission")
_HEAD_SECONDS = 20.0
_LARGEST_HEAD = 64 * 1024  # bytes, and what one read returns beyond; a browser sends a few thousand
_NOT_PLAIN = {b"expect", b"upgrade"}


class Piece:
    """The request in one read of the socket, as the parser tells of it."""

    def __init__(self) -> None:
        self._parser = httptools.HttpRequestParser(self)

    def read(self, data: bytes) -> bool:
        """Read a piece; say whether it is one whole submission, plain and alone. If not, this object is spent."""
        self.url, self.body = b"", b""
        self.head: dict[bytes, bytes] = {}
        self._lines = self.head
        self._begun = self._complete = 0
        self._is_plain = False
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            return False
        return self._begun == self._complete == 1 and self._is_plain

    def on_message_begin(self) -> None:
        """Count a request."""
        self._begun += 1

    def on_url(self, url: bytes) -> None:
        """Take the address."""
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a line of the head; of a repeated one the last, as the gate does."""
        self._lines[name.lower()] = value

    def on_headers_complete(self) -> None:
        """Judge the head; the parser knows these things only now. Lines behind a chunked body (trailers) are none of it."""
        self._lines = {}
        self._is_plain = (
            self._parser.get_method() == b"POST"
            and _SUBMISSION.fullmatch(self.url) is not None
            and self._parser.get_http_version() == "1.1"
            and self._parser.should_keep_alive()
            and _NOT_PLAIN.isdisjoint(self.head)
        )

    def on_body(self, body: bytes) -> None:
        """Take a part of the body (a chunked one has several)."""
        self.body += body

    def on_message_complete(self) -> None:
        """Count its end."""
        self._complete += 1


class ExpressHttp(HttpToolsProtocol):
    """uvicorn's HTTP protocol on a corked transport, with the express lane in front."""

    _take_whole: TakeWhole
    _is_full: Callable[[], bool]
    _refusals: Refusals
    _piece: Piece | None = None
    _is_inside = False  # uvicorn's parser has begun a request and not seen its end
    _is_waiting = False  # a submission of the express lane has not been answered
    _early = b""  # what the client sent meanwhile
    _closes = False
    _answered_at = 0.0
    _head_timer: asyncio.TimerHandle | None = None
    _bare = 0  # bytes of a message under way since the last of its body: of a head, or of what follows a chunked body
    _has_body = False
    most_connections = 4096

    def connection_made(self, transport: Any) -> None:
        """Begin with a connection."""
        from config import asgi  # noqa: PLC0415 - it needs Django, which is set up by now

        self._take_whole, self._is_full, self._refusals = asgi.take_whole, asgi.is_full, asgi.refusals
        self._raw = transport
        self._corked = CorkedTransport(transport, self.loop)
        super().connection_made(self._corked)  # type: ignore[arg-type]  # stands for it
        self._keep_alive_for(self.timeout_keep_alive)  # uvicorn would wait for a first request for ever
        if len(self.connections) > self.most_connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """End with a connection."""
        self._stop_head_timer()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        """Take what was read from the socket."""
        if self._is_waiting:
            self._early += data
            self._raw.pause_reading()
        elif not self._may_be_express(data):
            self._give_to_uvicorn(data)
        elif self._is_full() and is_plainly_whole(data):
            self._write(self._refusals.draw(self.server_state.default_headers))
        elif self._read_piece(data):
            self._is_waiting = True
            piece = self._piece
            assert piece is not None
            self._take_whole(piece.url.decode(), piece.head, piece.body, self._respond)
        else:
            self._give_to_uvicorn(data)

    def pause_writing(self) -> None:
        """Read nothing more from somebody who does not read our answers: they would pile up here."""
        super().pause_writing()
        self._raw.pause_reading()

    def resume_writing(self) -> None:
        """Read on, unless something else keeps us from it."""
        super().resume_writing()
        if not self._early and not self.flow.read_paused:
            self._raw.resume_reading()

    def on_message_begin(self) -> None:
        """Note that uvicorn is at it. A head that comes drop by drop is not waited for."""
        self._is_inside = True
        self._head_timer = self.loop.call_later(_HEAD_SECONDS, self._raw.close)
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a line of the head. One that follows the body would be added to a head that others have read already."""
        if self._head_timer is not None:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._has_body = True
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """Note that the head is there."""
        self._stop_head_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that uvicorn has the whole request."""
        self._is_inside = False
        super().on_message_complete()

    def shutdown(self) -> None:
        """Close as soon as what was accepted is answered."""
        if self._is_waiting:
            self._closes = True
        else:
            super().shutdown()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that nobody has used for so long; one timer looks after all that was sent here meanwhile."""
        left = self._answered_at + self.timeout_keep_alive - self.loop.time()
        if self._is_waiting or left > 0:
            self._keep_alive_for(self.timeout_keep_alive if self._is_waiting else left)
        else:
            super().timeout_keep_alive_handler()

    def _keep_alive_for(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _make_room(self) -> None:
        """Close a connection on which nothing is going on, or this one: who asks for something goes before who only holds on."""
        idle = (
            each
            for each in self.connections
            if isinstance(each, ExpressHttp) and each is not self and each.is_idle
        )
        next(idle, self)._raw.close()  # noqa: SLF001 - one of our own kind

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way."""
        # None before the first one, whatever its annotation says
        cycle: RequestResponseCycle | None = self.cycle
        return not self._is_inside and not self._is_waiting and (cycle is None or cycle.response_complete)

    def _give_to_uvicorn(self, data: bytes) -> None:
        """Have uvicorn parse it, which keeps all of a head however long it is: one without an end would take the machine's memory."""
        self._has_body = False
        super().data_received(data)
        self._bare = self._bare + len(data) if self._is_inside and not self._has_body else 0
        if self._bare > _LARGEST_HEAD:
            self._hang_up()

    def _hang_up(self) -> None:
        """Close the connection, with a word why where no answer is under way."""
        cycle: RequestResponseCycle | None = self.cycle  # as in `is_idle`
        if cycle is None or cycle.response_complete:
            refusal = Response(431, [(b"content-length", b"0")], b"")
            self._corked.write_now(write_response(refusal, self.server_state.default_headers, closes=True))
        self._raw.close()

    def _may_be_express(self, data: bytes) -> bool:
        return data.startswith(_BEGIN) and self.is_idle

    def _read_piece(self, data: bytes) -> bool:
        if self._piece is None:
            self._piece = Piece()
        if self._piece.read(data):
            return True
        self._piece = None
        return False

    def _respond(self, response: Response) -> None:
        self._is_waiting = False
        if self._raw.is_closing():
            return
        self._write(write_response(response, self.server_state.default_headers, closes=self._closes))
        if self._closes:
            self._raw.close()
        elif self._early:
            early, self._early = self._early, b""
            if not self.flow.write_paused:
                self._raw.resume_reading()
            self.data_received(early)

    def _write(self, answer: bytes) -> None:
        self._corked.write_now(answer)
        self.server_state.total_requests += 1
        self._answered_at = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self._keep_alive_for(self.timeout_keep_alive)
