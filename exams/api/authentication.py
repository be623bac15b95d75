"""Who is asking: the bearer of a token, read from memory, or somebody signed in to our own pages (with CSRF checked)."""

import dataclasses
from uuid import UUID

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from exams import tokens
from gradebook.api.authentication import PageSession

_SCHEME = "Bearer"


@dataclasses.dataclass(frozen=True, slots=True)
class Bearer:
    """The person a token speaks of: as much of a user as the API needs, without reading the user table."""

    id: UUID
    school_id: UUID | None
    role: str
    is_authenticated: bool = True

    @property
    def pk(self) -> UUID:
        """Return the id under the name Django's users have it."""
        return self.id


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


class SignedInView(APIView):
    """A door for whoever is signed in, by token or by session. What is theirs is decided behind it (`exams.policies`)."""

    authentication_classes = [BearerAuthentication, PageSession]
    permission_classes = [IsAuthenticated]

    @property
    def person_id(self) -> UUID:
        """Return who is signed in."""
        person_id = self.request.user.pk
        assert person_id is not None  # IsAuthenticated has seen to that
        return person_id


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself, untyped
    """How the schema names the token."""

    target_class = BearerAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """Return the OpenAPI security scheme."""
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}


class PageSessionScheme(SessionScheme):  # type: ignore[no-untyped-call]  # registers itself, untyped
    """How the schema names the session of our own pages."""

    target_class = "gradebook.api.authentication.PageSession"
