"""Exchanging a password for a token, for a client that keeps no session; and the bound on guessing, at this door and at the pages'."""

import ipaddress
import unicodedata
from hashlib import sha256
from typing import Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth import authenticate

from exams import tokens
from exams.errors import InvalidCredentials, RateLimited
from exams.limits import make_limit
from gradebook.models import User
from outbox.db import database_now

# Wrong passwords: ten at once, then one in 30 seconds, per name and address. A whole school behind one address signs in
# freely, and nobody can lock somebody else out from afar.
guesses = make_limit(settings.REDIS_URL, name="guesses", capacity=10, per_second=1 / 30)

_LONGEST_NAME: Final = 150  # of a username; what is longer is nobody's
_ONE_LINE: Final = 64  # leading bits of an IPv6 address that a household has to itself (RFC 6177)


class Guess:
    """One try of a password. It is taken before the password is looked at, and given back when that was right."""

    def __init__(self, *, username: str, address: str) -> None:
        # The limit is kept in Redis too, where no names and addresses need to be; and a name may be as long as a body.
        text = f"{_name_line(address)} {_name_person(username)}"
        self._key = sha256(text.encode(errors="surrogatepass")).hexdigest()

    def take(self) -> int:
        """Take the try: 0 if there was one, else the whole seconds until there will be."""
        return guesses.take(self._key)

    def give_back(self) -> None:
        """Return the try: it was no guess."""
        guesses.give_back(self._key)


def exchange_password(*, username: str, password: str, address: str) -> tokens.IssuedToken:
    """Return a token for the person with this name and password, or raise `InvalidCredentials` or `RateLimited`.

    An unknown name costs as much time as a wrong password: Django hashes once in either case.
    """
    guess = Guess(username=username, address=address)
    if wait := guess.take():
        raise RateLimited(
            "Too many wrong passwords; please wait as long as Retry-After says.", retry_after=wait
        )
    user = authenticate(username=username, password=password)
    if not isinstance(user, User):
        raise InvalidCredentials
    guess.give_back()
    return tokens.issue(user, now=database_now())


def _name_person(username: str) -> str:
    """Return one text for all that a door takes for the same username: Django's form strips blanks and composes (NFKC)."""
    return unicodedata.normalize("NFKC", username.strip()[: _LONGEST_NAME + 1]).casefold()


def _name_line(address: str) -> str:
    """Return one text for all addresses that somebody may choose among at will: of an IPv6 address its network."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4 or parsed.ipv4_mapped is not None:  # noqa: PLR2004 - the protocol's version
        return address
    return str(ipaddress.ip_network((int(parsed), _ONE_LINE), strict=False))


def issue_for(*, user_id: UUID) -> tokens.IssuedToken:
    """Return a token for somebody already signed in to our pages."""
    return tokens.issue(User.objects.get(id=user_id, is_active=True), now=database_now())
