"""Signing in to the pages, with a bound on guessing: the one of API tokens too, so that two doors are not twice as many guesses."""

from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from exams.services.sign_in import Guess


class BoundedGuesses:
    """For Django's sign-in forms: takes a try before the password is looked at, gives it back when it was right."""

    request: HttpRequest | None
    data: Any

    def clean(self) -> dict[str, Any]:
        """Check name and password, unless too many were wrong."""
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        guess = Guess(username=str(self.data.get("username", "")), address=address)
        if wait := guess.take():
            raise ValidationError(
                f"Too many wrong passwords. Please try again in {wait} seconds.", code="rate_limited"
            )
        cleaned: dict[str, Any] = super().clean()  # type: ignore[misc] # the form beside us
        guess.give_back()
        return cleaned


class SignInForm(BoundedGuesses, AuthenticationForm):
    """Everybody's."""


class AdminSignInForm(BoundedGuesses, AdminAuthenticationForm):
    """For the administration, which asks for staff."""
