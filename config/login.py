"""Signing in to the pages, with a bound on guessing: the one of API tokens too, so that two doors are not twice as many guesses."""

from typing import Any

from django.contrib import messages
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.views import PasswordChangeView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse_lazy

from exams.services.sign_in import Guess
from gradebook.models import User


class BoundedGuesses:
    """For Django's sign-in forms: takes a try before the password is looked at, gives it back when it was right."""

    request: HttpRequest | None
    data: Any

    def clean(self) -> dict[str, Any]:
        """Check name and password, unless too many were wrong."""
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        guess = Guess(username=str(self.data.get("username", "")), address=address)
        _take(guess)
        cleaned: dict[str, Any] = super().clean()  # type: ignore[misc] # the form beside us
        guess.give_back()
        return cleaned


class SignInForm(BoundedGuesses, AuthenticationForm):
    """Everybody's."""


class AdminSignInForm(BoundedGuesses, AdminAuthenticationForm):
    """For the administration, which asks for staff."""


class PasswordForm(PasswordChangeForm):
    """A person's own new password; the old one may be guessed at no more often than at the door."""

    def __init__(self, user: User, *args: Any, address: str = "", **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self._guess = Guess(username=user.username, address=address)

    def clean_old_password(self) -> str:
        """Check the old password, unless too many were wrong."""
        _take(self._guess)
        password = super().clean_old_password()
        self._guess.give_back()
        return password


class ChangePassword(PasswordChangeView):
    """The page for it. Every token of the person ends with the old password (the database sees to that)."""

    form_class = PasswordForm
    template_name = "registration/change_password.html"
    success_url = reverse_lazy("home")

    def get_form_kwargs(self) -> dict[str, Any]:
        """Let the form know where the try comes from."""
        return {**super().get_form_kwargs(), "address": self.request.META.get("REMOTE_ADDR", "")}

    def form_valid(self, form: Any) -> HttpResponse:
        """Say that it is done."""
        messages.success(self.request, "Your password is changed.")
        return super().form_valid(form)


def _take(guess: Guess) -> None:
    if wait := guess.take():
        raise ValidationError(
            f"Too many wrong passwords. Please try again in {wait} seconds.", code="rate_limited"
        )
