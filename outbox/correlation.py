"""What caused what is being done now: one id that joins a request's log lines to the events it published.

The id is the context's (a thread's, a task's). Where nobody set one, as in workers, there is none.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

_current: ContextVar[UUID | None] = ContextVar("correlation_id", default=None)


@contextmanager
def correlated(correlation_id: UUID) -> Iterator[None]:
    """Join what is published and logged in this block to one id."""
    before = _current.set(correlation_id)
    try:
        yield
    finally:
        _current.reset(before)


def find_correlation_id() -> UUID | None:
    """Return the id of what is being done now, None outside of any request."""
    return _current.get()
