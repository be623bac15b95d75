"""A mark sheet's past in every phase of the cut-over: also while its copies have not been backfilled, or not all of them.

The one thing to know: then the lines from before the log are drawn from the copies, with the very ids and places that the backfill will give
them, so that a moment shows the same before, meanwhile and afterwards. It costs what comparing the copies costs, as the old history page does.
"""

from collections.abc import Iterable, Iterator
from copy import copy
from datetime import datetime
from itertools import groupby
from uuid import UUID

from django.db import transaction

from gradebook.cells import CellKey
from gradebook.snapshots.reading import walk_copies_back
from projections.asof import queries
from projections.asof.queries import BEFORE_ALL, MOST_BATCHES, SEVERAL, BatchOfChanges
from projections.backfill.lines import draw_lines
from projections.backfill.walking import has_unfilled_copies
from projections.models import BackfilledMark, HistoryEntry, MarkHistory

ALL = 2**31 - 1
KEPT_BESIDE = "kept_beside"


class SheetPast:
    """What one sheet was, read from the history, and from its copies where the history does not have them yet."""

    def __init__(self, sheet_id: UUID) -> None:
        self._sheet_id = sheet_id
        self._drawn = _draw(sheet_id) if has_unfilled_copies(sheet_id) else []  # newest first

    def find_position_at(self, moment: datetime) -> int:
        """Return the position of the last change that had happened by then, `BEFORE_ALL` where none had."""
        drawn = (line.pos for line in self._drawn if line.occurred_at <= moment)
        return max(queries.find_position_at(moment, sheet_id=self._sheet_id), next(drawn, BEFORE_ALL))

    def list_cells_as_of(self, pos: int) -> list[HistoryEntry]:
        """Return each cell's last change up to a position: its `new` is what the cell showed."""
        cells: dict[CellKey, HistoryEntry] = {
            _key(line): line for line in reversed(self._drawn) if line.pos <= pos
        }
        cells |= {_key(line): line for line in queries.list_cells_as_of(pos, sheet_id=self._sheet_id)}
        return list(cells.values())

    def list_differences_between(self, after: int, upto: int) -> Iterable[HistoryEntry]:
        """Return the cells that show something else at `upto` than at `after`, by student: `old` is what was, `new` what is."""
        if not self._drawn:
            return queries.list_differences_between(after, upto, sheet_id=self._sheet_id)
        drawn = [line for line in reversed(self._drawn) if after < line.pos <= upto]
        logged = MarkHistory.objects.filter(sheet_id=self._sheet_id, pos__gt=after, pos__lte=upto)
        return find_differences([*drawn, *logged.order_by("pos")])

    def list_recent_batches(self) -> list[BatchOfChanges]:
        """Return the newest saves that changed several cells, newest first."""
        found = queries.list_recent_batches(sheet_id=self._sheet_id)
        if self._drawn:  # of what is backfilled so far, a save may be there in part
            found = [batch for batch in found if batch.first > 0] + list(find_batches(self._drawn))
        return found[:MOST_BATCHES]


def find_differences(oldest_first: Iterable[HistoryEntry]) -> list[HistoryEntry]:
    """Return the last of each cell's changes with what the cell showed before the first, where that is something else. By student. Pure.

    The same rule as `list_differences_between.sql`.
    """
    first: dict[CellKey, HistoryEntry] = {}
    last: dict[CellKey, HistoryEntry] = {}
    for line in oldest_first:
        if line.reason != KEPT_BESIDE:
            first.setdefault(_key(line), line)
            last[_key(line)] = line
    found = []
    for key, line in last.items():
        was = first[key]
        if (was.old_value, was.old_code) != (line.new_value, line.new_code):
            change = copy(line)
            change.old_value, change.old_code, change.old_source = was.old_value, was.old_code, was.old_source
            found.append(change)
    return sorted(found, key=lambda line: (line.student_name, line.student_id, line.column_id))


def find_batches(newest_first: Iterable[BackfilledMark]) -> Iterator[BatchOfChanges]:
    """Yield the saves that changed several cells, in the order given. Pure; a save's lines stand together."""
    for _, batch in groupby(newest_first, key=lambda line: line.batch_id):
        lines = list(batch)
        if len(lines) >= SEVERAL:
            line = lines[-1]
            yield BatchOfChanges(
                first=line.pos,
                last=lines[0].pos,
                cells=len(lines),
                occurred_at=line.occurred_at,
                actor_name=line.actor_name,
                actor_type=line.actor_type,
                reason=line.reason,
            )


def _draw(sheet_id: UUID) -> list[BackfilledMark]:
    with transaction.atomic():
        return list(draw_lines(walk_copies_back(sheet_id, upto=None, most=ALL)))


def _key(line: HistoryEntry) -> CellKey:
    return CellKey(line.column_id, line.student_id)
