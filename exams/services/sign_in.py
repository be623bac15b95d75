"""Exchanging a password for a token, for a client that keeps no session."""

from uuid import UUID

from django.contrib.auth import authenticate

from exams import tokens
from exams.errors import InvalidCredentials, RateLimited
from exams.limits import Buckets
from gradebook.models import User
from outbox.db import database_now

# Wrong passwords: ten at once, then one in 30 seconds, per name and address. A whole school behind one address signs in
# freely, and nobody can lock somebody else out from afar.
_guesses = Buckets(capacity=10, per_second=1 / 30)


def exchange_password(*, username: str, password: str, address: str) -> tokens.IssuedToken:
    """Return a token for the person with this name and password, or raise `InvalidCredentials` or `RateLimited`.

    An unknown name costs as much time as a wrong password: Django hashes once in either case.
    """
    guess = (username.casefold(), address)
    wait = _guesses.take(guess)
    if wait:
        raise RateLimited(
            "Too many wrong passwords; please wait as long as Retry-After says.", retry_after=wait
        )
    user = authenticate(username=username, password=password)
    if not isinstance(user, User):
        raise InvalidCredentials
    _guesses.give_back(guess)
    return tokens.issue(user, now=database_now())


def issue_for(*, user_id: UUID) -> tokens.IssuedToken:
    """Return a token for somebody already signed in to our pages."""
    return tokens.issue(User.objects.get(id=user_id, is_active=True), now=database_now())
