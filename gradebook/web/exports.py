"""The marks of a sheet as a file, for a spreadsheet and for the way back through the import."""

from collections.abc import Collection
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from gradebook.filenames import attach_as, name_part
from gradebook.imports.heads import STUDENT_HEADS
from gradebook.imports.writing import guard, write_table
from gradebook.queries import get_layout
from gradebook.snapshots.locked import list_shown_cells
from gradebook.web.grid import Row, build_grid
from gradebook.web.people import get_sheet_or_404

NAME_HEADS = ("name", "student", "full name", "name of the student")


@login_required
@require_GET
def export_marks(request: HttpRequest, sheet_id: UUID) -> HttpResponse:
    """Give the sheet as it is shown: user name, name, and a column for each of its columns. No totals: they are worked out."""
    sheet = get_sheet_or_404(request, sheet_id)
    grid = build_grid(get_layout(sheet), list_shown_cells(sheet), today=timezone.localdate())
    titles = [head.column.title for head in grid.heads]
    header = [STUDENT_HEADS[0], _choose_name_head(titles), *map(guard, titles)]
    body = write_table([header, *map(_write, grid.rows)], decimal_sign=grid.decimal_sign)
    name = name_part(f"{sheet.course.title} {sheet.school_class.name}", otherwise="marks")
    return HttpResponse(body, content_type="text/csv; charset=utf-8", headers=attach_as(f"{name}.csv"))


def _write(row: Row) -> list[str]:
    return [guard(row.student.username), guard(row.name), *(cell.text for cell in row.cells)]


def _choose_name_head(titles: Collection[str]) -> str:
    """Return a header for the names that is none of the sheet's own titles: doubled, the import could not tell them apart."""
    taken = {title.casefold() for title in titles}
    return next((head for head in NAME_HEADS if head not in taken), "")
