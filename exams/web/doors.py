"""Who comes in: a signed-in student or teacher, on whose school's clock the page is written."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from exams.errors import NotFound, OutcomeUnknown
from gradebook.models import Role, User

_PATIENCE = (
    "We keep every hand-in in several places, and cannot see at this moment whether yours has reached all it must. "
    "What you hold a receipt for is safe. Look again in a few seconds."
)

PersonView = Callable[Concatenate[HttpRequest, User, ...], HttpResponse]


def for_students(view: PersonView) -> Callable[..., HttpResponse]:
    """Hand the view the student who asks. Everybody else, and whoever asks for what is not theirs, finds nothing."""
    return _for(Role.STUDENT, view)


def for_teachers(view: PersonView) -> Callable[..., HttpResponse]:
    """Hand the view the teacher who asks. Everybody else, and whoever asks for what is not theirs, finds nothing."""
    return _for(Role.TEACHER, view)


def _for(role: Role, view: PersonView) -> Callable[..., HttpResponse]:
    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, **parts: Any) -> HttpResponse:
        person = request.user
        if not isinstance(person, User) or person.role != role or person.school is None:
            raise Http404
        with timezone.override(ZoneInfo(person.school.time_zone)):
            try:
                return view(request, person, **parts)
            except NotFound:
                raise Http404 from None
            except OutcomeUnknown as doubt:
                return _ask_for_patience(request, doubt)

    return guarded


def _ask_for_patience(request: HttpRequest, doubt: OutcomeUnknown) -> HttpResponse:
    context = {"status": doubt.status, "title": "One moment, please.", "detail": _PATIENCE, "may_pass": True}
    page = render(request, "refusal.html", context, status=doubt.status)
    page["Retry-After"] = str(doubt.retry_after)
    return page
