"""What caused what is being done now: one id that joins log lines to the events they are about.

In a request it is the request's; outside of one it is that of the work at hand (a job's subject, the event an effect follows from). The id is the
context's (a thread's, a task's). Where nobody set one there is none.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final
from uuid import UUID

_UUID_LENGTHS: Final = (32, 36)

_current: ContextVar[UUID | None] = ContextVar("correlation_id", default=None)


@contextmanager
def correlated(correlation_id: UUID) -> Iterator[None]:
    """Join what is published and logged in this block to one id."""
    before = _current.set(correlation_id)
    try:
        yield
    finally:
        _current.reset(before)


def read_request_id(given: str | None) -> UUID | None:
    """Return the id a request names in `X-Request-ID`; None where that is no UUID, since a free text from outside is repeated nowhere."""
    try:
        return UUID(given) if given is not None and len(given) in _UUID_LENGTHS else None
    except ValueError:
        return None


def find_correlation_id() -> UUID | None:
    """Return the id of what is being done now, None outside of any request."""
    return _current.get()
