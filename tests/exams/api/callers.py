"""Clients of the API: each call is one HTTP request through Django, by somebody with a token, a session, or neither."""

import dataclasses
import datetime as dt
import json
from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.core.asgi import get_asgi_application
from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.test import Client, RequestFactory

from exams import tokens
from exams.gate.asgi import Gate
from exams.gate.durability import LocalDurability
from exams.models import Attempt
from gradebook.models import User
from outbox.db import database_now


@dataclasses.dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who calls; `token` is empty for somebody who has none."""

    token: str = ""
    client: Client = dataclasses.field(default_factory=Client)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """Send JSON, or bytes as they are, to `/api/v1/…`."""
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        content_type = headers.pop("content_type", "application/json")
        return self.client.generic(method, f"/api/v1/{path}", data, content_type, headers=headers)  # type: ignore[return-value]

    def get(self, path: str) -> HttpResponse:
        """Read."""
        return self.call("GET", path)

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """Create."""
        return self.call("POST", path, body, **headers)

    def put(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """Replace."""
        return self.call("PUT", path, body, **headers)


def with_token(person: User) -> Caller:
    """Return somebody who calls with a bearer token."""
    return Caller(tokens.issue(person, now=database_now()).access)


def with_session(person: User) -> Caller:
    """Return somebody who is signed in to our pages; CSRF is checked, as it is in a browser."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(person)
    return Caller(client=client)


def give_csrf_cookie(client: Client) -> str:
    """Give this browser a CSRF cookie, as a page of ours does; return the token to send with it."""
    request = RequestFactory().get("/")
    token = get_token(request)
    client.cookies["csrftoken"] = request.META["CSRF_COOKIE"]
    return token


def read(response: HttpResponse, status: int) -> Any:
    """Return the JSON of a response that must have this status."""
    assert response.status_code == status, response.content
    return json.loads(response.content)


def refused(response: HttpResponse, status: int) -> dict[str, Any]:
    """Return the problem of a refusal that must have this status, without the members that repeat the code."""
    problem: dict[str, Any] = read(response, status)
    assert response["Content-Type"] == "application/problem+json"
    assert problem["status"] == status
    assert problem["type"] == f"urn:handover:problem:{problem['code']}"
    return problem


def call_in_chunks(method: str, path: str, chunks: Sequence[bytes], token: str) -> int:
    """Send a body to Django piece by piece, without saying how long it is; return the status."""
    return async_to_sync(_exchange)(get_asgi_application(), _scope(method, path, token), chunks)[0]


def call_gate(
    method: str, path: str, body: Any, token: str, content_type: str = "application/json"
) -> tuple[int, bytes]:
    """Send JSON, or bytes as they are, to a gate of its own; return status and body. It commits on its own connection."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def call() -> tuple[int, bytes]:
        gate = Gate(durability=LocalDurability())
        try:
            return await _exchange(gate, _scope(method, path, token, content_type), [data])
        finally:
            await gate.close()

    return async_to_sync(call)()


def _scope(method: str, path: str, token: str, content_type: str = "application/json") -> dict[str, Any]:
    headers = {"host": "localhost", "transfer-encoding": "chunked", "content-type": content_type}
    if token:
        headers["authorization"] = f"Bearer {token}"
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }


async def _exchange(application: Any, scope: dict[str, Any], chunks: Sequence[bytes]) -> tuple[int, bytes]:
    server: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]
    for chunk in chunks:
        await server.send_input({"type": "http.request", "body": chunk, "more_body": chunk != chunks[-1]})
    start = await server.receive_output(timeout=30)
    body = await server.receive_output(timeout=30)
    await server.wait(timeout=30)
    return int(start["status"]), bytes(body["body"])


def look(caller: Caller, attempt: Attempt) -> dict[str, Any]:
    """Return the whole attempt as its student sees it."""
    shown: dict[str, Any] = read(caller.get(f"attempts/{attempt.pk}"), 200)
    return shown


def in_helsinki(moment: dt.datetime) -> str:
    """Write a moment as the API does for the school of these tests."""
    return moment.astimezone(ZoneInfo("Europe/Helsinki")).isoformat(timespec="milliseconds")
