"""One line for each request that Django answers, and the id that joins it to what the request caused.

The id comes from `X-Request-ID` if that is a UUID (a proxy's 32 hexadecimal digits are one), else it is new; it goes back in the same
header and into each event the request publishes. Anything else in that header is not repeated: it could be anything. The gate
reads the header by the same rule, gives out no new id, and writes no line: there, the receipt is the record.
"""

import logging
import time
from collections.abc import Awaitable
from typing import Final
from uuid import UUID

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from uuid_utils.compat import uuid7

from config.admission.tiers import classify
from config.logs.lines import FACTS, find_route
from config.middleware.both_modes import Answer, BothModes
from outbox.correlation import correlated, read_request_id

HEADER: Final = "X-Request-ID"
# Asked all day by machines; the last is what `config.probe` asks a pool for, because it costs nothing.
_PROBES: Final = frozenset({"/healthz", "/readyz", "/metrics", "/favicon.ico"})

log = logging.getLogger("handover.request")


class RequestLog(BothModes):
    """Middleware: it writes the line, and hands on the id."""

    def __call__(self, request: HttpRequest) -> Answer | Awaitable[Answer]:
        """Answer the request, under its id."""
        request_id = choose_request_id(request.headers.get(HEADER))
        if self.is_async:
            return self._answer_later(request, request_id)
        with correlated(request_id):
            begun = time.perf_counter()
            response = self.get_response(request)
            assert isinstance(response, HttpResponseBase)
            return _finish(request, response, request_id, begun)

    async def _answer_later(self, request: HttpRequest, request_id: UUID) -> Answer:
        with correlated(request_id):
            begun = time.perf_counter()
            return _finish(request, await self.get_response_later(request), request_id, begun)


def choose_request_id(given: str | None) -> UUID:
    """Return the id the header gives, or a new one when it gives none that is well-formed."""
    return read_request_id(given) or uuid7()


def _finish(request: HttpRequest, response: Answer, request_id: UUID, begun: float) -> Answer:
    response[HEADER] = str(request_id)
    method = request.method if request.method in _METHODS else "OTHER"
    facts = {
        "request_id": str(request_id),
        "method": method,
        "path": find_route(request),
        "tier": classify(method, request.path),
        "status": response.status_code,
        "milliseconds": round((time.perf_counter() - begun) * 1000, 1),
    }
    level = logging.DEBUG if facts["path"] in _PROBES else logging.INFO
    log.log(level, "%(method)s %(path)s %(status)d in %(milliseconds).1f ms", facts, extra={FACTS: facts})
    return response


_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
