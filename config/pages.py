"""The few pages that belong to no app: the front door, and what is said about accessibility."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
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


def accessibility(request: HttpRequest) -> HttpResponse:
    """Say what everybody can use here, what not yet, and whom to tell."""
    return render(request, "accessibility.html", {"contact": settings.ACCESSIBILITY_CONTACT})


def find_home(user: User) -> str:
    """Return the address of this person's own first page: the administration for those who find something there."""
    has_administration = user.is_staff and bool(user.is_superuser or user.get_all_permissions())
    return "/admin/" if has_administration else HOME[Role(user.role)]
