"""Who comes in: operators of the whole system."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from gradebook.models import User

OperatorView = Callable[Concatenate[HttpRequest, User, ...], HttpResponse]


def for_operators(view: OperatorView) -> Callable[..., HttpResponse]:
    """Hand the view the operator who asks. Whoever has not signed in is asked to; everybody else finds nothing."""

    @never_cache
    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, **parts: Any) -> HttpResponse:
        person = request.user
        if not isinstance(person, User) or not person.is_operator:
            raise Http404
        return view(request, person, **parts)

    return guarded
