"""The marks of a sheet as a file, for a spreadsheet and for the way back through the import."""

from collections.abc import Collection
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from gradebook.cells import CellKey
from gradebook.entries import BLANK, Entry
from gradebook.filenames import attach_as, name_part
from gradebook.imports.heads import NAME_HEADS
from gradebook.imports.writing import Value, write_text, write_workbook
from gradebook.models import MarkSheet
from gradebook.models.marks import STUDENT_HEAD, fold_title
from gradebook.queries import get_layout
from gradebook.snapshots.locked import list_shown_cells
from gradebook.web.grid import read_decimal_sign
from gradebook.web.people import get_sheet_or_404

WORKBOOK_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@login_required
@require_GET
def export_text(request: HttpRequest, sheet_id: UUID) -> HttpResponse:
    """Give the sheet as CSV, in the decimals of its reader."""
    sheet = get_sheet_or_404(request, sheet_id)
    body = write_text(_list_rows(sheet), decimal_sign=read_decimal_sign())
    return HttpResponse(body, content_type="text/csv; charset=utf-8", headers=_attach(sheet, "csv"))


@login_required
@require_GET
def export_workbook(request: HttpRequest, sheet_id: UUID) -> HttpResponse:
    """Give the sheet as an Excel workbook."""
    sheet = get_sheet_or_404(request, sheet_id)
    body = write_workbook(_list_rows(sheet))
    return HttpResponse(body, content_type=WORKBOOK_TYPE, headers=_attach(sheet, "xlsx"))


def _list_rows(sheet: MarkSheet) -> list[list[Value]]:
    """Return the sheet as it is shown: user name, name, and its columns. No totals: they are worked out."""
    layout = get_layout(sheet)
    entries = {cell.key: cell.entry for cell in list_shown_cells(sheet)}
    titles = [column.title for column in layout.columns]
    rows: list[list[Value]] = [[STUDENT_HEAD, _choose_name_head(titles), *titles]]
    for student in layout.students:
        keys = [CellKey(column.pk, student.pk) for column in layout.columns]
        marks = [_value_of(entries.get(key, BLANK)) for key in keys]
        rows.append([student.username, student.full_name, *marks])
    return rows


def _value_of(entry: Entry) -> Value:
    return entry.code if entry.value is None else entry.value


def _attach(sheet: MarkSheet, kind: str) -> dict[str, str]:
    name = name_part(f"{sheet.course.title} {sheet.school_class.name}", otherwise="marks")
    return attach_as(f"{name}.{kind}")


def _choose_name_head(titles: Collection[str]) -> str:
    """Return a header for the names that is none of the sheet's own titles: doubled, the import could not tell them apart."""
    taken = {fold_title(title) for title in titles}
    return next((head for head in NAME_HEADS if head not in taken), "")
