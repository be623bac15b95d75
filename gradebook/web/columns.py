"""The two small forms for a column: a new one, and an edit of its title and maximum."""

from collections.abc import Callable
from decimal import Decimal
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from gradebook.entries import Refused, check_entry, plain, read_entry
from gradebook.errors import GradebookError, TermIsLocked
from gradebook.models import Column, ColumnSource, MarkSheet
from gradebook.services.columns import add_column, edit_column
from gradebook.web.grid import read_decimal_sign
from gradebook.web.people import get_sheet_or_404, get_user

LARGEST_MAXIMUM = Decimal("999999.999")


class ColumnForm(forms.Form):
    """A column's title and the most it gives; numbers are read by the grid's own rule."""

    title = forms.CharField(max_length=120)
    max_points = forms.CharField(label="Maximum", max_length=40)

    def clean_max_points(self) -> Decimal:
        """Return the maximum as a decimal, or say why it is none."""
        entry = read_entry(self.cleaned_data["max_points"], decimal_sign=read_decimal_sign())
        if isinstance(entry, Refused):
            raise forms.ValidationError(entry.detail)
        if not entry.value:
            raise forms.ValidationError("A number above 0.")
        if refused := check_entry(entry, max_points=LARGEST_MAXIMUM):
            raise forms.ValidationError(refused.detail)
        return entry.value


@login_required
@require_http_methods(["GET", "POST"])
def add(request: HttpRequest, sheet_id: UUID) -> HttpResponse:
    """Add a column at the end of a sheet."""
    sheet = _get_editable_sheet(request, sheet_id)
    form = ColumnForm(request.POST or None)
    if _carry_out(form, lambda: add_column(sheet=sheet, by=get_user(request), **form.cleaned_data)):
        messages.success(request, f"“{form.cleaned_data['title']}” was added.")
        return redirect("gradebook:sheet", sheet.pk)
    return _show(request, sheet, form)


@login_required
@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, sheet_id: UUID, column_id: UUID) -> HttpResponse:
    """Rename a column, or change its maximum."""
    sheet = _get_editable_sheet(request, sheet_id)
    column = get_object_or_404(Column, pk=column_id, sheet=sheet)
    form = ColumnForm(request.POST or None, initial=_initial(column))
    form.fields["max_points"].disabled = column.source == ColumnSource.EXAM
    person = get_user(request)
    if _carry_out(
        form, lambda: edit_column(column_id=column.pk, sheet=sheet, by=person, **form.cleaned_data)
    ):
        messages.success(request, f"“{form.cleaned_data['title']}” was saved.")
        return redirect("gradebook:sheet", sheet.pk)
    return _show(request, sheet, form, column=column)


def _show(request: HttpRequest, sheet: MarkSheet, form: ColumnForm, **shown: Column) -> HttpResponse:
    context = {"sheet": sheet, "form": form, "why_locked": TermIsLocked().detail, **shown}
    return render(request, "gradebook/column_form.html", context)


def _get_editable_sheet(request: HttpRequest, sheet_id: UUID) -> MarkSheet:
    sheet = get_sheet_or_404(request, sheet_id)
    if not sheet.teaches:  # type: ignore[attr-defined] # annotated by the query
        raise PermissionDenied
    return sheet


def _initial(column: Column) -> dict[str, str]:
    return {
        "title": column.title,
        "max_points": plain(column.max_points).replace(".", read_decimal_sign()),
    }


def _carry_out(form: ColumnForm, command: Callable[[], Column]) -> bool:
    """Run the command of a valid form; what it refuses becomes an error of the field it names."""
    if not form.is_valid():
        return False
    try:
        command()
    except GradebookError as refused:
        form.add_error((refused.pointer or "").removeprefix("/") or None, refused.detail)
        return False
    return True
