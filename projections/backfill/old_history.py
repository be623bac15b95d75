"""A sheet's history as the old system showed it: all copies loaded and compared, each time somebody looks.

The one thing to know: this is the way back. Until the cut-over has switched the history read, pages come from here; what it finds is also
what the new way is held against. Its cost grows with the copies, which is why it goes.
"""

from collections import deque
from collections.abc import Iterator
from uuid import UUID

from django.db import transaction

from gradebook.cells import CellKey
from gradebook.snapshots.cells import Copy
from gradebook.snapshots.reading import walk_copies
from projections.backfill.lines import compare_neighbours
from projections.models import BackfilledMark


def walk_old_history(sheet_id: UUID) -> Iterator[BackfilledMark]:
    """Yield what the copies of a sheet say was changed, oldest first, numbered from 1. Needs a transaction."""
    older: Copy | None = None
    number = 0
    for copy in walk_copies(sheet_id):
        for line in reversed(compare_neighbours(older, copy, newest_pos=-1)):
            number += 1
            line.pos = number
            yield line
        older = copy


def list_old_history(
    *, sheet_id: UUID, key: CellKey | None, before: int | None, size: int
) -> list[BackfilledMark]:
    """Return the newest lines before a place, newest first, of a sheet or of one cell. One query, of all copies."""
    newest: deque[BackfilledMark] = deque(maxlen=size)
    with transaction.atomic():
        for line in walk_old_history(sheet_id):
            if before is not None and line.pos >= before:
                break
            if key is None or key == (line.column_id, line.student_id):
                newest.append(line)
    return list(reversed(newest))
