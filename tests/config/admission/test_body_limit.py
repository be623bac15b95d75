"""What is too large for its address is refused before Django writes all of it to a file."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator

from config.admission.body_limit import LARGEST_FORM
from config.asgi import application
from exams.media_type import LARGEST_BODY
from exams.models import Attempt, Draft
from gradebook.models import User
from tests.exams.api.callers import with_token

pytestmark = pytest.mark.django_db(transaction=True)
PIECE = b" " * 65_536


def ask(
    path: str, headers: dict[str, str], pieces: Sequence[bytes], *, is_complete: bool
) -> tuple[int, bytes]:
    """Send a head and these pieces; the rest never comes unless the body is complete. Return status and body."""
    head = {"host": "localhost", "content-type": "application/json"} | headers
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "PUT",
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in head.items()],
    }

    async def exchange() -> tuple[int, bytes]:
        server: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]
        for number, piece in enumerate(pieces, 1):
            more = not is_complete or number < len(pieces)
            await server.send_input({"type": "http.request", "body": piece, "more_body": more})
        start = await server.receive_output(timeout=30)
        body = await server.receive_output(timeout=30)
        await server.wait(timeout=30)
        return start["status"], body["body"]

    return async_to_sync(exchange)()


@pytest.fixture
def draft(attempt: Attempt) -> str:
    """The address where the student's draft is saved."""
    return f"/api/v1/attempts/{attempt.pk}/draft"


def test_body_that_declares_to_be_too_large_is_refused_before_a_byte_of_it_has_come(
    draft: str, student: User
) -> None:
    headers = {
        "content-length": str(LARGEST_BODY + 1),
        "authorization": f"Bearer {with_token(student).token}",
    }

    status, body = ask(draft, headers, [], is_complete=False)

    assert (status, json.loads(body)["code"]) == (413, "too_large")


def test_body_of_unknown_length_is_refused_as_soon_as_too_much_has_come(draft: str, student: User) -> None:
    headers = {"transfer-encoding": "chunked", "authorization": f"Bearer {with_token(student).token}"}

    status, body = ask(draft, headers, [PIECE] * 17, is_complete=False)

    assert (status, json.loads(body)["code"]) == (413, "too_large")
    assert not Draft.objects.exists()


def test_body_as_large_as_it_may_be_reaches_the_view(draft: str, student: User) -> None:
    body = b'{"answers": {"q": "a"}, "token": null}'
    body += b" " * (LARGEST_BODY - len(body))
    headers = {"content-length": str(LARGEST_BODY), "authorization": f"Bearer {with_token(student).token}"}

    status, answer = ask(draft, headers, [body], is_complete=True)

    assert (status, json.loads(answer)["token"]) == (200, str(Draft.objects.get().token))


def test_length_that_is_no_number_does_not_stop_the_check(draft: str) -> None:
    status, body = ask(draft, {"content-length": "many"}, [PIECE] * 17, is_complete=False)

    assert (status, json.loads(body)["code"]) == (413, "too_large")


def test_pages_take_what_a_file_of_questions_needs() -> None:
    headers = {"content-length": str(LARGEST_BODY + 1)}

    assert ask("/healthz", headers, [PIECE] * 17, is_complete=True)[0] == 403  # by Django: no form of ours


@pytest.mark.parametrize("path", ["/accounts/login/", "/admin/login/", "/no/such/page"])
def test_form_that_declares_to_be_too_large_is_refused_before_a_byte_of_it_has_come(path: str) -> None:
    status, body = ask(path, {"content-length": str(LARGEST_FORM + 1)}, [], is_complete=False)

    assert (status, b"This is too large" in body) == (413, True)


def test_form_of_unknown_length_is_refused_as_soon_as_too_much_has_come() -> None:
    """A stranger could fill the disk with it: what a page is sent lies in a file until all of it has come."""
    pieces = [PIECE] * (LARGEST_FORM // len(PIECE) + 1)

    status, body = ask("/accounts/login/", {"transfer-encoding": "chunked"}, pieces, is_complete=False)

    assert (status, b"This is too large" in body) == (413, True)
