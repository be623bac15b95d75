"""Signing in to the pages, with a bound on guessing: the same one as for API tokens (`exams.services.sign_in`)."""

from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from exams.limits import Buckets

# Wrong passwords: ten at once, then one in 30 seconds, per name and address. Nobody can lock somebody else out from afar.
guesses = Buckets(capacity=10, per_second=1 / 30)


class BoundedGuesses:
    """For Django's sign-in forms: takes a try before the password is looked at, gives it back when it was right."""

    request: HttpRequest | None
    data: Any

    def clean(self) -> dict[str, Any]:
        """Check name and password, unless too many were wrong."""
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        guess = (str(self.data.get("username", "")).casefold(), address)
        wait = guesses.take(guess)
        if wait:
            raise ValidationError(
                f"Too many wrong passwords. Please try again in {wait} seconds.", code="rate_limited"
            )
        cleaned: dict[str, Any] = super().clean()  # type: ignore[misc] # the form beside us
        guesses.give_back(guess)
        return cleaned


class SignInForm(BoundedGuesses, AuthenticationForm):
    """Everybody's."""


class AdminSignInForm(BoundedGuesses, AdminAuthenticationForm):
    """For the administration, which asks for staff."""
