"""The pages of mark sheets: the list of mine, and one as a grid."""

from itertools import groupby
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from gradebook.errors import MarksAreReadOnly, TermIsLocked
from gradebook.models import MarkSheet, Role
from gradebook.queries import get_layout, list_my_sheets, take_snapshot
from gradebook.snapshots.locked import list_shown_cells
from gradebook.web.grid import CODES, build_grid
from gradebook.web.people import get_sheet_or_404, get_user

SHEETS_A_PAGE = 60  # more than any teacher has; an administrator of many schools pages through
PAGE_DIGITS = 6


@login_required
@require_GET
def my_sheets(request: HttpRequest) -> HttpResponse:
    """List the mark sheets this person may read, newest period first. Students have none, and are told so plainly."""
    user = get_user(request)
    if user.role == Role.STUDENT:
        raise PermissionDenied
    page = _read_page(request)
    sheets = list(list_my_sheets(user)[(page - 1) * SHEETS_A_PAGE : page * SHEETS_A_PAGE + 1])
    shown = sheets[:SHEETS_A_PAGE]
    periods = [(period, list(group)) for period, group in groupby(shown, key=lambda sheet: sheet.period)]
    more = page + 1 if len(sheets) > SHEETS_A_PAGE else None
    return render(request, "gradebook/my_sheets.html", {"periods": periods, "page": page, "more": more})


def _read_page(request: HttpRequest) -> int:
    """Return the page that was asked for, or the first."""
    text = request.GET.get("page", "")
    return (
        int(text) if text.isascii() and text.isdigit() and 0 < len(text) <= PAGE_DIGITS and int(text) else 1
    )


@login_required
@require_GET
def sheet_detail(request: HttpRequest, sheet_id: UUID) -> HttpResponse:
    """Show one mark sheet as a grid. The snapshot is taken before anything is read, so a refresh misses nothing."""
    sheet = get_sheet_or_404(request, sheet_id)
    snapshot = take_snapshot()
    grid = build_grid(get_layout(sheet), list_shown_cells(sheet), today=timezone.localdate())
    context = {
        "sheet": sheet,
        "grid": grid,
        "snapshot": snapshot,
        "codes": CODES,
        "why_read_only": _say_why_read_only(sheet),
    }
    return render(request, "gradebook/sheet.html", context)


def _say_why_read_only(sheet: MarkSheet) -> str:
    """Return what the door would answer to a mark for this sheet, if it refuses them all; else nothing."""
    if sheet.may_edit:  # type: ignore[attr-defined] # annotated by the query, like `teaches`
        return ""
    is_theirs = sheet.teaches  # type: ignore[attr-defined]
    return (TermIsLocked() if is_theirs else MarksAreReadOnly()).detail
