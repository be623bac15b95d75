"""Who comes in: a signed-in student, on whose school's clock the page is written."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from exams.errors import NotFound
from gradebook.models import Role, User

StudentView = Callable[Concatenate[HttpRequest, User, ...], HttpResponse]


def for_students(view: StudentView) -> Callable[..., HttpResponse]:
    """Hand the view the student who asks. Everybody else, and whoever asks for what is not theirs, finds nothing."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, **parts: Any) -> HttpResponse:
        student = request.user
        if not isinstance(student, User) or student.role != Role.STUDENT or student.school is None:
            raise Http404
        with timezone.override(ZoneInfo(student.school.time_zone)):
            try:
                return view(request, student, **parts)
            except NotFound:
                raise Http404 from None

    return guarded
