"""Who comes in: a signed-in student or teacher, on whose school's clock the page is written."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from exams.errors import NotFound
from gradebook.models import Role, User

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

    return guarded
