"""What is refused although the form was right: somebody was quicker, or only the database knew better.

The one thing to know: the work is carried out once more. By then the forms see what others have done, and say so beside what was
typed, as they would have a moment later. What is refused again is said above the page. Nothing is ever half done: each page is a transaction.
"""

from collections.abc import Callable
from decimal import InvalidOperation
from typing import Any, TypeVar

from django.contrib import admin, messages
from django.contrib.messages.storage import default_storage
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.db import DataError, IntegrityError, transaction
from django.db.models import Model, ProtectedError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from outbox.problems import describe_error

M = TypeVar("M", bound=Model)


class JudgedAgain(admin.ModelAdmin[M]):
    """Pages of a table on which whoever comes too late is told so."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Add or change a row."""
        view = super().changeform_view
        return _judge(request, lambda: view(request, *args, **kwargs))

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Delete a row."""
        view = super().delete_view
        return _judge(request, lambda: view(request, *args, **kwargs))

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """List rows, or do something to those that are ticked: to all of them, or none."""
        view = super().changelist_view
        if request.method != "POST":
            return _understand(lambda: view(request, *args, **kwargs))
        return _judge(request, lambda: _in_one(lambda: view(request, *args, **kwargs)))


def _judge(request: HttpRequest, asked: Callable[[], Any]) -> Any:
    def work() -> Any:
        return _understand(asked)

    try:
        return work()
    except Exception as error:
        if (refusal := find_refusal(error)) is None:
            raise
    request._messages = default_storage(request)  # type: ignore[attr-defined] # noqa: SLF001 - what was told of work that was taken back
    try:
        return work()
    except PermissionDenied:  # by now the row stands still: the refusal says why
        pass
    except Exception as error:
        if (refusal := find_refusal(error)) is None:
            raise
    messages.error(request, refusal)
    return redirect(request.get_full_path())


def find_refusal(error: Exception) -> str | None:
    """Return what a refusal says to a person, None for an error that is none."""
    if isinstance(error, ProtectedError | IntegrityError):
        return "Nothing was changed: this is in use, or somebody else has changed it meanwhile."
    problem = describe_error(error)
    return problem.detail if problem else None


def _in_one(work: Callable[[], HttpResponse]) -> HttpResponse:
    """Do it in one transaction."""
    with transaction.atomic():
        return work()


def _understand(work: Callable[[], Any]) -> Any:
    """Do it; an id that is none, a NUL or a signalling NaN was typed by nobody, and such a request cannot be understood."""
    try:
        return work()
    except (ValidationError, DataError, InvalidOperation) as error:
        raise BadRequest(str(error)) from error
