"""Who is asking: the bearer of a token, read from memory, or somebody signed in to our own pages (with CSRF checked)."""

import dataclasses
from uuid import UUID

from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.request import Request

from exams import tokens

_SCHEME = "Bearer"


@dataclasses.dataclass(frozen=True, slots=True)
class Bearer:
    """The person a token speaks of: as much of a user as the API needs, without reading the user table."""

    id: UUID
    school_id: UUID | None
    role: str
    is_authenticated: bool = True


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`. No such header: somebody else may know who is asking."""

    def authenticate(self, request: Request) -> tuple[Bearer, str] | None:
        """Return the bearer and the token, None without one, or raise `InvalidToken`."""
        scheme, _, token = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != _SCHEME.lower():
            return None
        claims = tokens.verify(token.strip())
        return Bearer(claims.user_id, claims.school_id, claims.role), token

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401; without one DRF would answer 403."""
        return _SCHEME
