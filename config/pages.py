"""The few pages that belong to no app: the front door."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static

from gradebook.models import Role, User

HOME = {Role.STUDENT: "/exams/", Role.TEACHER: "/marksheets/", Role.ADMIN: "/terms/"}


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Send everybody to where their work is."""
    assert isinstance(request.user, User)
    return redirect(find_home(request.user))


def favicon(request: HttpRequest) -> HttpResponse:
    """Send whoever asks by the old name to our mark."""
    return redirect(static("icon.svg"))


def find_home(user: User) -> str:
    """Return the address of this person's own first page: the administration for those who find something there."""
    has_administration = user.is_staff and bool(user.is_superuser or user.get_all_permissions())
    return "/admin/" if has_administration else HOME[Role(user.role)]
