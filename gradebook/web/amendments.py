"""The pages of amendments: propose another mark for a cell of a locked term, and sign, refuse or take back what was proposed."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from gradebook import policies
from gradebook.cells import CellKey
from gradebook.entries import Entry, Refused, read_entry
from gradebook.errors import GradebookError
from gradebook.models import Amendment, MarkSheet, User
from gradebook.queries import get_layout
from gradebook.queries.terms import find_amendment, list_amendments
from gradebook.services.amendments import refuse_amendment, sign_amendment, withdraw_amendment
from gradebook.services.proposals import propose_amendment
from gradebook.services.terms import LONGEST_REASON
from gradebook.templatetags.points import points
from gradebook.web.grid import read_decimal_sign
from gradebook.web.people import get_sheet_or_404, get_user

SHOWN = 200


class ProposalForm(forms.Form):
    """Which cell, what it should show, and why; the mark is read by the grid's own rule.

    The fields name their help and errors (`aria-describedby`) by the ids Django gives these; the template has to use them.
    """

    student = forms.ChoiceField()
    column = forms.ChoiceField()
    entry = forms.CharField(
        label="New mark",
        help_text="A number or a code, as in the sheet. Empty takes the mark away.",
        max_length=200,
        required=False,
    )
    reason = forms.CharField(
        help_text="It stays in the record, and is shown to whoever signs.",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(self, *args: Any, sheet: MarkSheet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        layout = get_layout(sheet)
        for name, choices in (
            ("student", [(str(student.pk), student.full_name) for student in layout.students]),
            (
                "column",
                [
                    (str(column.pk), f"{column.title} (/ {points(column.max_points)})")
                    for column in layout.columns
                ],
            ),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [("", "Choose"), *choices]

    def clean_entry(self) -> Entry:
        """Return what was typed as a mark, or say why it is none."""
        entry = read_entry(self.cleaned_data["entry"], decimal_sign=read_decimal_sign())
        if isinstance(entry, Refused):
            raise forms.ValidationError(entry.detail)
        return entry

    @property
    def key(self) -> CellKey:
        """The cell that was chosen."""
        return CellKey(UUID(self.cleaned_data["column"]), UUID(self.cleaned_data["student"]))


@login_required
@require_http_methods(["GET", "POST"])
def of_sheet(request: HttpRequest, sheet_id: UUID) -> HttpResponse:
    """List a sheet's amendments; its teachers propose new ones here while its term is locked."""
    sheet = get_sheet_or_404(request, sheet_id)
    form = ProposalForm(request.POST or None, sheet=sheet, initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            amendment = propose_amendment(
                sheet=sheet, key=form.key, entry=data["entry"], reason=data["reason"], by=get_user(request)
            )
        except GradebookError as refused:
            form.add_error(None, refused.detail)
        else:
            messages.success(request, "Proposed. It waits for the signature of a second person.")
            return redirect("gradebook:amendment", amendment.pk)
    context = {"sheet": sheet, "form": form, "amendments": list_amendments(sheet_id=sheet.pk)[:SHOWN]}
    return render(request, "gradebook/amendments.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def show(request: HttpRequest, amendment_id: UUID) -> HttpResponse:
    """Show one amendment and what it touches; POST `do=sign`, `do=withdraw`, or `do=refuse` with a `note`."""
    user = get_user(request)
    amendment = find_amendment(amendment_id, user=user)
    if amendment is None:
        raise Http404
    error = ""
    if request.method == "POST":
        try:
            messages.success(request, _carry_out(request, amendment, user))
        except GradebookError as refused:
            error = refused.detail
        else:
            return redirect("gradebook:amendment", amendment.pk)
    context = {
        "amendment": amendment,
        "sheet": amendment.sheet,
        "may_decide": policies.may_decide(user, amendment),
        "is_own": amendment.proposed_by_id == user.pk,
        "error": error,
        "note": request.POST.get("note", ""),
    }
    return render(request, "gradebook/amendment.html", context, status=409 if error else 200)


def _carry_out(request: HttpRequest, amendment: Amendment, user: User) -> str:
    match request.POST.get("do"):
        case "sign":
            sign_amendment(amendment_id=amendment.pk, by=user)
            return "Signed: the mark is changed."
        case "refuse":
            refuse_amendment(amendment_id=amendment.pk, note=request.POST.get("note", ""), by=user)
            return "Refused: the mark stays as it is."
        case "withdraw":
            withdraw_amendment(amendment_id=amendment.pk, by=user)
            return "Taken back."
        case _:
            raise PermissionDenied
