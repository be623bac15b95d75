"""How a record becomes a line. Fields are chosen, never collected: what a caller puts into `extra` does not get out by itself.

A record about a request names the *route*, never the address: addresses carry ids of people's work.
"""

import logging
from datetime import UTC, datetime
from typing import Any

import orjson

from config.logs.privacy import scrub
from outbox.correlation import find_correlation_id

NO_ROUTE = "(no such address)"
FACTS = "facts"  # the one `extra` that gets out, for our own request log


class TextLine(logging.Formatter):
    """For people at a terminal."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, and the lines of the error below it if there is one."""
        stamp = self.formatTime(record)
        line = f"{stamp} {record.levelname} {record.name}: {describe(record)}"
        error = self._describe_error(record)
        return scrub(f"{line}\n{error}" if error else line)

    def _describe_error(self, record: logging.LogRecord) -> str:
        return self.formatException(record.exc_info) if record.exc_info else ""


class JsonLine(TextLine):
    """For machines: one object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        correlation_id = find_correlation_id()
        fields: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": scrub(describe(record)),
            "process": record.process,
            **getattr(record, FACTS, {}),
        }
        if correlation_id is not None:
            fields["correlation_id"] = str(correlation_id)
        if error := self._describe_error(record):
            fields["error"] = scrub(error)
        return orjson.dumps(fields).decode()


def make_line(form: str) -> logging.Formatter:
    """Return the formatter of this LOG_FORMAT."""
    return JsonLine() if form == "json" else TextLine()


def describe(record: logging.LogRecord) -> str:
    """Return what the record says, with the route in place of the address where Django logs a request."""
    request = getattr(record, "request", None)
    path = getattr(request, "path", None)
    if path is None or not isinstance(record.args, tuple):
        return record.getMessage()
    return str(record.msg) % tuple(find_route(request) if part == path else part for part in record.args)


def find_route(request: Any) -> str:
    """Return the pattern that answered this request."""
    match = getattr(request, "resolver_match", None)
    return f"/{match.route}" if match is not None else NO_ROUTE
