"""The page that imports marks from a file: choose it, look at what it would change, import it.

The one thing to know: nothing is kept on the server between the looking and the importing. The file comes back with the second form and is
planned again by the same code; what is imported is what was shown, or it is shown once more.
"""

import base64
import binascii
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from gradebook.entries import Entry
from gradebook.errors import GradebookError, TermIsLocked
from gradebook.imports.importing import ImportRefused, apply_import, prepare_import, require_sound
from gradebook.imports.plans import Plan, Wishes
from gradebook.imports.tables import MARKS
from gradebook.imports.workbooks import WorksheetNotNamed
from gradebook.models import MarkSheet
from gradebook.web.grid import read_decimal_sign
from gradebook.web.people import get_sheet_or_404, get_user

NOT_WHOLE = "The file did not come back whole: choose it again."


class FileForm(forms.Form):
    """A file, chosen."""

    file = forms.FileField(allow_empty_file=True, error_messages={"required": "Choose a file."})
    is_clearing = forms.BooleanField(required=False)

    def clean_file(self) -> UploadedFile[bytes]:
        """Return the file, if it is not too large to be read."""
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if (file.size or 0) > MARKS.file:
            raise forms.ValidationError(f"The file is larger than {MARKS.file // 1024} KiB.")
        return file

    def read(self) -> dict[str, Any]:
        """Return what the second form will say."""
        file = self.cleaned_data["file"]
        return {
            "name": file.name or "",
            "content": file.read(),
            "is_clearing": self.cleaned_data["is_clearing"],
            "worksheet": "",
        }


class SameFileForm(forms.Form):
    """The same file once more, and which of its worksheets is meant, where it has several."""

    name = forms.CharField(max_length=500, required=False)
    content = forms.CharField()
    is_clearing = forms.BooleanField(required=False)
    worksheet = forms.CharField(max_length=100, required=False, strip=False)

    def clean_content(self) -> bytes:
        """Return the file's bytes."""
        try:
            return base64.urlsafe_b64decode(self.cleaned_data["content"])
        except (binascii.Error, ValueError) as error:
            raise forms.ValidationError(NOT_WHOLE) from error


class LookedAtForm(SameFileForm):
    """The same file, and what its reader was shown: a digest of the plan, and the generation of the term."""

    digest = forms.CharField(max_length=64)
    term = forms.IntegerField(min_value=0)


@login_required
@require_http_methods(["GET", "POST"])
def import_marks(request: HttpRequest, sheet_id: UUID) -> HttpResponse:
    """Show the form; what a chosen file would change; or import what was looked at."""
    sheet = get_sheet_or_404(request, sheet_id)
    if not sheet.teaches:  # type: ignore[attr-defined] # annotated by the query
        raise PermissionDenied
    if request.method == "GET":
        return _show(request, sheet, error=TermIsLocked().detail if sheet.period.is_locked else "")
    try:
        if "digest" in request.POST:
            return _import(request, sheet)
        return _look_again(request, sheet) if "content" in request.POST else _look(request, sheet)
    except ImportRefused as refused:
        return _show(request, sheet, error=refused.detail, faults=refused.faults)
    except GradebookError as refused:
        return _show(request, sheet, error=refused.detail)


def _look(request: HttpRequest, sheet: MarkSheet) -> HttpResponse:
    form = FileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _show(request, sheet, error=" ".join(map(str, form.errors["file"])))
    return _preview(request, sheet, form.read())


def _look_again(request: HttpRequest, sheet: MarkSheet) -> HttpResponse:
    """Look at the worksheet that was chosen."""
    form = SameFileForm(request.POST)
    if not form.is_valid():
        return _show(request, sheet, error=NOT_WHOLE)
    return _preview(request, sheet, form.cleaned_data)


def _import(request: HttpRequest, sheet: MarkSheet) -> HttpResponse:
    form = LookedAtForm(request.POST)
    if not form.is_valid():
        return _show(request, sheet, error=NOT_WHOLE)
    given = form.cleaned_data
    plan = _plan(request, sheet, given)
    if plan.digest != given["digest"]:
        return _preview(request, sheet, given, is_moved=True)
    number = apply_import(sheet=sheet, plan=plan, by=get_user(request), generation=given["term"])
    messages.success(request, f"{number} mark{'' if number == 1 else 's'} imported from {given['name']}.")
    return redirect("gradebook:sheet", sheet.pk)


def _plan(request: HttpRequest, sheet: MarkSheet, given: dict[str, Any]) -> Plan:
    wishes = Wishes(
        read_decimal_sign(), given["name"], is_clearing=given["is_clearing"], worksheet=given["worksheet"]
    )
    plan = prepare_import(sheet=sheet, data=given["content"], wishes=wishes, by=get_user(request))
    require_sound(plan)
    return plan


def _preview(
    request: HttpRequest, sheet: MarkSheet, given: dict[str, Any], *, is_moved: bool = False
) -> HttpResponse:
    content = base64.urlsafe_b64encode(given["content"]).decode()
    try:
        plan = _plan(request, sheet, given)
    except WorksheetNotNamed as choice:
        shown = {"sheet": sheet, "given": given, "content": content, "worksheets": choice.worksheets}
        return render(request, "gradebook/import_worksheet.html", shown)
    lines = [(each, _show_entry(each.old), _show_entry(each.new)) for each in plan.changes]
    shown = {
        "sheet": sheet,
        "plan": plan,
        "lines": lines,
        "given": given,
        "content": content,
        "is_moved": is_moved,
    }
    return render(request, "gradebook/import_preview.html", shown)


def _show(request: HttpRequest, sheet: MarkSheet, **shown: Any) -> HttpResponse:
    status = 409 if shown.get("error") and request.method == "POST" else 200
    return render(request, "gradebook/import_marks.html", {"sheet": sheet, **shown}, status=status)


def _show_entry(entry: Entry) -> str:
    """Return a mark in the reader's decimals, or its code's word; nothing for none."""
    return entry.code or entry.text.replace(".", read_decimal_sign())
