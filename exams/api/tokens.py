"""`POST /api/v1/tokens`: a bearer token for a name and a password, or for the person signed in to the page that asks."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from exams.api.bodies import read_body
from exams.api.problems import READING_A_BODY, refusals
from exams.errors import ForeignPage, InvalidCredentials, OutcomeUnknown, RateLimited
from exams.services.sign_in import exchange_password, issue_for
from gradebook.api.authentication import PageSession


class Credentials(serializers.Serializer[Any]):
    """Both or neither: without them the session must say who is asking."""

    username = serializers.CharField(max_length=150, required=False)
    password = serializers.CharField(max_length=1024, required=False, trim_whitespace=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Name the missing half, or both to somebody who is not signed in."""
        expected = {"username", "password"} if attrs or not self.context["is_signed_in"] else set()
        missing = expected - attrs.keys()
        if missing:
            raise serializers.ValidationError(dict.fromkeys(sorted(missing), "This field is required."))
        return attrs


class Token(serializers.Serializer[Any]):
    """`access` goes into `Authorization: Bearer …`, until `expires_at`."""

    access = serializers.CharField()
    expires_at = serializers.DateTimeField()


class Tokens(APIView):
    """Sign-in for clients of the API."""

    authentication_classes = [PageSession]
    permission_classes = [AllowAny]

    @extend_schema(
        operation_id="create_token",
        summary="Sign in",
        request=Credentials,
        responses={201: Token}
        | refusals(
            *READING_A_BODY, InvalidCredentials, ForeignPage, RateLimited, OutcomeUnknown, signed_in=False
        ),
        auth=[],
    )
    def post(self, request: Request) -> Response:
        """Exchange a username and password for a bearer token.

        A page of ours sends `{}` with its session cookie and CSRF token instead, and gets one for whoever is signed in.
        """
        person = request.user
        fields = read_body(request, Credentials, is_signed_in=person.is_authenticated)
        if fields or not person.is_authenticated:
            issued = exchange_password(**fields, address=request.META.get("REMOTE_ADDR", ""))
        else:
            issued = issue_for(user_id=person.pk)
        body = {"access": issued.access, "expires_at": issued.expires_at}
        return Response(body, status=status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"})
