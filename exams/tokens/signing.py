"""Making tokens and reading them: JSON Web Tokens, HMAC-SHA-256, with the id of the key that signed in the header.

The first key of `settings.TOKEN_KEYS` signs and every key there verifies, so a key is rotated by putting a new one first
and dropped once the tokens it signed have expired.
"""

import dataclasses
import functools
import hmac
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import jwt
import orjson
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from exams.errors import InvalidToken
from exams.tokens.claims import LONGEST_LIFE, Claims
from gradebook.models import User

_ALGORITHM = "HS256"
_LONGEST_TOKEN = 2048  # ours have about 350 characters; nothing longer is worth a hash
_REMEMBERED = 8192  # a page sends the same token with every autosave: its signature is checked once


@dataclasses.dataclass(frozen=True, slots=True)
class IssuedToken:
    """A fresh token and when it stops working."""

    access: str
    expires_at: datetime


class KeyRing:
    """The secrets by key id, the signing one first."""

    def __init__(self, secrets_by_id: Mapping[str, bytes]) -> None:
        if not secrets_by_id:
            raise ImproperlyConfigured(
                "There is no key to sign tokens with; `make run` makes one in the keys folder."
            )
        self.source = secrets_by_id
        self._signing_id, self._signing_secret = next(iter(secrets_by_id.items()))
        # A header of ours is always the same text, so it names the key without being parsed, and no other is read at all.
        self._mac_by_header = {
            _encode({}, *key).partition(".")[0]: hmac.new(key[1], digestmod="sha256")
            for key in secrets_by_id.items()
        }
        self.read = functools.lru_cache(_REMEMBERED)(
            self._read
        )  # refusals are not remembered, only honest tokens

    def sign(self, payload: Mapping[str, Any]) -> str:
        """Return the token with this payload."""
        return _encode(payload, self._signing_id, self._signing_secret)

    def _read(self, token: str) -> Claims:
        """Return the claims of a token one of our keys signed; expiry is the caller's to check, at every use.

        The header is one of ours letter for letter, so key and algorithm are known and the MAC is all there is to compare.
        PyJWT's general decoder gives the same answer for half of all the processor time of a submission (ADR 0003).
        """
        signed, _, signature = token.rpartition(".")
        header, _, payload = signed.partition(".")
        try:
            mac = self._mac_by_header[header].copy()
            mac.update(signed.encode("ascii"))
            if not hmac.compare_digest(
                urlsafe_b64encode(mac.digest()).rstrip(b"="), signature.encode("ascii")
            ):
                raise InvalidToken
            return _claims(orjson.loads(urlsafe_b64decode(f"{payload}==")))
        except (KeyError, TypeError, ValueError):
            raise InvalidToken from None


def issue(user: User, *, now: datetime) -> IssuedToken:
    """Return a new token for this person. `now` is the database's clock, which revocations are written by too."""
    expires_at = now + min(timedelta(hours=settings.TOKEN_HOURS), LONGEST_LIFE)
    payload = {
        "sub": str(user.id),
        "school": str(user.school_id) if user.school_id else None,
        "role": user.role,
        "iat": now.timestamp(),
        "exp": expires_at.timestamp(),
        "jti": secrets.token_urlsafe(12),
    }
    return IssuedToken(_key_ring().sign(payload), expires_at.astimezone(UTC))


def read_claims(token: str) -> Claims:
    """Return the claims of a genuine, unexpired token, or raise `InvalidToken`."""
    if len(token) > _LONGEST_TOKEN:
        raise InvalidToken
    claims = _key_ring().read(token)
    if claims.expires_at <= time.time():
        raise InvalidToken("This token has expired; sign in again.")
    return claims


def _encode(payload: Mapping[str, Any], key_id: str, secret: bytes) -> str:
    return jwt.encode(dict(payload), secret, algorithm=_ALGORITHM, headers={"kid": key_id})


def _claims(payload: Mapping[str, Any]) -> Claims:
    school = payload["school"]
    return Claims(
        user_id=UUID(payload["sub"]),
        school_id=UUID(school) if school else None,
        role=str(payload["role"]),
        issued_at=float(payload["iat"]),
        expires_at=float(payload["exp"]),
        token_id=str(payload["jti"]),
    )


_rings: list[KeyRing] = []


def _key_ring() -> KeyRing:
    """Return the ring of the settings as they are; a process builds it once, a test that changes the keys gets a new one."""
    if not _rings or _rings[0].source is not settings.TOKEN_KEYS:
        _rings[:] = [KeyRing(settings.TOKEN_KEYS)]
    return _rings[0]
