"""Reads of the mark history: newest first, one indexed range read a page, however much history there is.

A page is asked for by the position it starts before (keyset paging), so that page 400 costs what page 1 costs
and lines that arrive while somebody pages never shift the ones below. Lines from before the log have negative positions, so the border
between the two eras is a place like any other.
"""

import dataclasses
from collections.abc import Sequence
from uuid import UUID

from django.db.models import QuerySet

from gradebook.cells import CellKey
from gradebook.snapshots.phases import reads_copies_for_history
from projections.backfill.old_history import list_old_history
from projections.models import HistoryEntry, WholeHistory

PAGE_SIZE = 50


@dataclasses.dataclass(frozen=True, slots=True)
class HistoryPage:
    """At most `PAGE_SIZE` lines, newest first; `older_before` is where the next page starts (None: this was the last)."""

    lines: Sequence[HistoryEntry]
    older_before: int | None


def list_sheet_history(*, sheet_id: UUID, before: int | None = None, size: int = PAGE_SIZE) -> HistoryPage:
    """Return the changes in one mark sheet; indexes `history_sheet_idx` and `one_backfilled_mark_per_place`, merged."""
    return _page(WholeHistory.objects.filter(sheet_id=sheet_id), before, size)


def list_cell_history(
    *, sheet_id: UUID, column_id: UUID, student_id: UUID, before: int | None = None, size: int = PAGE_SIZE
) -> HistoryPage:
    """Return the changes of one cell; indexes `history_cell_idx` and `backfilled_cell_idx`, merged.

    The sheet is named too, so that a cell of another sheet is never shown under this one's permission.
    """
    cells = WholeHistory.objects.filter(sheet_id=sheet_id, column_id=column_id, student_id=student_id)
    return _page(cells, before, size)


def list_shown_history(
    *, sheet_id: UUID, key: CellKey | None, before: int | None = None, size: int = PAGE_SIZE
) -> HistoryPage:
    """Return what the history page shows of a sheet or of one cell: by the cut-over's phase, from its copies or from the history."""
    if reads_copies_for_history(sheet_id):
        found = list_old_history(sheet_id=sheet_id, key=key, before=before, size=size + 1)
        return _cut(found, size)
    if key is None:
        return list_sheet_history(sheet_id=sheet_id, before=before, size=size)
    return list_cell_history(sheet_id=sheet_id, **key._asdict(), before=before, size=size)


def _page(lines: QuerySet[WholeHistory], before: int | None, size: int) -> HistoryPage:
    if before is not None:
        lines = lines.filter(pos__lt=before)
    return _cut(list(lines.order_by("-pos")[: size + 1]), size)


def _cut(found: Sequence[HistoryEntry], size: int) -> HistoryPage:
    """Make a page of at most `size` of the lines found, of which one more was looked for."""
    page = found[:size]
    return HistoryPage(lines=page, older_before=page[-1].pos if len(found) > size else None)
