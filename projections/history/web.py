"""The history pages: a whole page, or (for the drawer) just its lines. Both read the projection and nothing else.

History may lag behind the sheet; as soon as it is further behind than its budget, the page says so.
"""

import math
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from gradebook import policies
from gradebook.cells import CellKey
from outbox.consumers.staleness import get_consumer_status
from projections.history.lines import describe_changes
from projections.history.projector import MarksheetHistory
from projections.history.queries import HistoryPage, list_shown_history

POSITION_DIGITS = 18  # a bigint holds any number this long


@login_required
@require_GET
def sheet_history(request: HttpRequest, sheet_id: UUID) -> HttpResponse:
    """Show every change in one mark sheet, newest first."""
    name = _require_view(request, sheet_id)
    page = list_shown_history(sheet_id=sheet_id, key=None, before=_read_before(request))
    return _render(request, page, sheet_id=sheet_id, sheet_name=name, is_cell=False)


@login_required
@require_GET
def cell_history(request: HttpRequest, sheet_id: UUID, column_id: UUID, student_id: UUID) -> HttpResponse:
    """Show every change of one cell, newest first."""
    name = _require_view(request, sheet_id)
    key = CellKey(column_id, student_id)
    page = list_shown_history(sheet_id=sheet_id, key=key, before=_read_before(request))
    return _render(request, page, sheet_id=sheet_id, sheet_name=name, is_cell=True)


def _require_view(request: HttpRequest, sheet_id: UUID) -> str:
    """Return what the sheet is called; one that this person may not read does not exist for them."""
    name = policies.find_viewable_name(request.user, sheet_id) if request.user.is_authenticated else None
    if name is None:
        raise Http404
    return name


def _read_before(request: HttpRequest) -> int | None:
    """Return the position to page on from; anything that is not one starts at the top."""
    text = request.GET.get("before", "")
    digits = text.removeprefix("-")  # before the log, positions are negative
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= POSITION_DIGITS else None


def _render(request: HttpRequest, page: HistoryPage, **context: Any) -> HttpResponse:
    lines = list(describe_changes(page.lines))
    follower = get_consumer_status(MarksheetHistory.name)
    template = "history_lines" if "fragment" in request.GET else "history_page"
    context |= {
        "lines": lines,
        "subject": lines[0].change if lines else None,
        "older_before": page.older_before,
        "is_first_page": "before" not in request.GET,
        "follower": follower,
        "seconds_behind": math.ceil(follower.staleness.total_seconds()),
    }
    return render(request, f"projections/{template}.html", context)
