"""The transaction every door to a mark goes through: the grid, the worker's posts, later paste, import and API.

Lock order inside it: term, column, cell (by key), event. Nothing locks terms yet; when a term can be locked, the shared
lock on it is taken here, first, so that no door can forget it and nobody slips in behind the one who locks.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction


@contextmanager
def changing_marks() -> Iterator[None]:
    """Open (or join) the transaction in which marks change together with their events."""
    with transaction.atomic():
        yield
