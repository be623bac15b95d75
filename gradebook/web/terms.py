"""The pages of terms, for administrators: which are locked, what waits in them, and the two buttons."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from gradebook.errors import GradebookError
from gradebook.models import Period, Role, User
from gradebook.queries.terms import list_terms, list_waiting_amendments
from gradebook.services.amendments import reopen_term
from gradebook.services.terms import lock_term
from gradebook.web.people import get_user

WAITING_SHOWN = 100


@login_required
@require_GET
def show_list(request: HttpRequest) -> HttpResponse:
    """List the terms this person may lock."""
    user = get_user(request)
    if user.role != Role.ADMIN:
        raise PermissionDenied
    return render(request, "gradebook/terms.html", {"terms": list_terms(user)})


@login_required
@require_http_methods(["GET", "POST"])
def show(request: HttpRequest, period_id: UUID) -> HttpResponse:
    """Show one term with what waits in it; POST `do=lock`, or `do=open` with a `reason`."""
    user = get_user(request)
    term = list_terms(user).filter(pk=period_id).first()
    if term is None:
        raise Http404
    error = ""
    if request.method == "POST":
        try:
            messages.success(request, _carry_out(request, term, user))
        except GradebookError as refused:
            error = refused.detail
        else:
            return redirect("gradebook:term", term.pk)
    waiting = list_waiting_amendments(period_id=term.pk)[:WAITING_SHOWN]
    context = {"term": term, "waiting": waiting, "error": error, "reason": request.POST.get("reason", "")}
    return render(request, "gradebook/term.html", context, status=409 if error else 200)


def _carry_out(request: HttpRequest, term: Period, user: User) -> str:
    if request.POST.get("do") == "open":
        reopen_term(period_id=term.pk, reason=request.POST.get("reason", ""), by=user)
        return f"{term.name} is open again."
    lock_term(period_id=term.pk, by=user)
    return f"{term.name} is locked."
