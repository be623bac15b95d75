"""Addresses for the tests of the error handlers: each raises one kind of error, through DRF and through plain Django."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import IntegrityError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from exams.errors import Malformed, Overloaded
from gradebook.errors import SheetNotFound

ERRORS: dict[str, Callable[[], Exception]] = {
    "malformed": lambda: Malformed("Not a number.", pointer="/answers/q1"),
    "overloaded": lambda: Overloaded(retry_after=4),
    "sheet": SheetNotFound,
    "fields": lambda: exceptions.ValidationError(
        {"name": ["Too long."], "items": [{}, {"a/b": ["Bad."]}], "non_field_errors": ["Whole."]}
    ),
    "parse": exceptions.ParseError,
    "login": exceptions.NotAuthenticated,
    "forbidden": PermissionDenied,
    "missing": Http404,
    "throttled": lambda: exceptions.Throttled(wait=2.4),
    "media": lambda: exceptions.UnsupportedMediaType("text/csv"),
    "big": RequestDataTooBig,
    "suspicious": SuspiciousOperation,
    "bad": BadRequest,
    "text": lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    "bug": ZeroDivisionError,
    "away": lambda: OperationalError("the connection is closed"),
    "wrong": lambda: IntegrityError("a rule of the tables"),
}


class Bearer(BaseAuthentication):
    def authenticate(self, request: Request) -> None:
        return None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class Raising(APIView):
    authentication_classes = (Bearer,)
    permission_classes = (AllowAny,)

    def get(self, request: Request, name: str) -> Response:
        error = ERRORS[name]()
        raise error


def raise_plainly(request: HttpRequest, name: str) -> HttpResponse:
    error = ERRORS[name]()
    raise error


def answer(request: HttpRequest, **kwargs: Any) -> HttpResponse:
    return HttpResponse("fine")


urlpatterns = [
    path("api/rest/<name>", Raising.as_view()),
    path("api/plain/<name>", raise_plainly),
    path("page/<name>", raise_plainly),
    path("form", answer),
    path("accessibility/", answer, name="accessibility"),  # every page leads there
]
handler400 = "config.refusals.bad_request"
handler403 = "config.refusals.permission_denied"
handler404 = "config.refusals.page_not_found"
handler500 = "config.refusals.server_error"
