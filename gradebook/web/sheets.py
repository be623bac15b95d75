"""The pages of mark sheets: the list of mine, and one as a grid."""

from itertools import groupby
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from gradebook.models import Role
from gradebook.queries import get_layout, list_cells, list_my_sheets, take_snapshot
from gradebook.web.grid import CODES, build_grid
from gradebook.web.people import get_sheet_or_404, get_user


@login_required
@require_GET
def my_sheets(request: HttpRequest) -> HttpResponse:
    """List the mark sheets this person may read, newest period first. Students have none, and are told so plainly."""
    user = get_user(request)
    if user.role == Role.STUDENT:
        raise PermissionDenied
    sheets = list_my_sheets(user)
    periods = [(period, list(group)) for period, group in groupby(sheets, key=lambda sheet: sheet.period)]
    return render(request, "gradebook/my_sheets.html", {"periods": periods})


@login_required
@require_GET
def sheet_detail(request: HttpRequest, sheet_id: UUID) -> HttpResponse:
    """Show one mark sheet as a grid. The snapshot is taken before anything is read, so a refresh misses nothing."""
    sheet = get_sheet_or_404(request, sheet_id)
    snapshot = take_snapshot()
    grid = build_grid(get_layout(sheet), list_cells(sheet), today=timezone.localdate())
    context = {"sheet": sheet, "grid": grid, "snapshot": snapshot, "codes": CODES}
    return render(request, "gradebook/sheet.html", context)
