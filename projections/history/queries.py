"""Reads of the mark history: newest first, one indexed range read a page, however much history there is.

A page is asked for by the position it starts before (keyset paging), so that page 400 costs what page 1 costs
and lines that arrive while somebody pages never shift the ones below.
"""

import dataclasses
from uuid import UUID

from django.db.models import QuerySet

from projections.models import MarkHistory

PAGE_SIZE = 50


@dataclasses.dataclass(frozen=True, slots=True)
class HistoryPage:
    """At most `PAGE_SIZE` lines, newest first; `older_before` is where the next page starts (None: this was the last)."""

    lines: list[MarkHistory]
    older_before: int | None


def list_sheet_history(*, sheet_id: UUID, before: int | None = None, size: int = PAGE_SIZE) -> HistoryPage:
    """Return the changes in one mark sheet; index `history_sheet_idx`."""
    return _page(MarkHistory.objects.filter(sheet_id=sheet_id), before, size)


def list_cell_history(
    *, sheet_id: UUID, column_id: UUID, student_id: UUID, before: int | None = None, size: int = PAGE_SIZE
) -> HistoryPage:
    """Return the changes of one cell; index `history_cell_idx`.

    The sheet is named too, so that a cell of another sheet is never shown under this one's permission.
    """
    cells = MarkHistory.objects.filter(sheet_id=sheet_id, column_id=column_id, student_id=student_id)
    return _page(cells, before, size)


def _page(lines: QuerySet[MarkHistory], before: int | None, size: int) -> HistoryPage:
    if before is not None:
        lines = lines.filter(pos__lt=before)
    found = list(lines.order_by("-pos")[: size + 1])
    page = found[:size]
    return HistoryPage(lines=page, older_before=page[-1].pos if len(found) > size else None)
