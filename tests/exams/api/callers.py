"""Clients of the API: each call is one HTTP request through Django, by somebody with a token, a session, or neither."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.core.asgi import get_asgi_application
from django.http import HttpResponse
from django.test import Client

from exams import tokens
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
    """Send a body piece by piece, without saying how long it is, as a real server would hand it on; return the status."""
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [
            (b"host", b"localhost"),
            (b"transfer-encoding", b"chunked"),
            (b"content-type", b"application/json"),
            (b"authorization", f"Bearer {token}".encode()),
        ],
    }

    async def call() -> int:
        server: Any = ApplicationCommunicator(get_asgi_application(), scope)  # type: ignore[no-untyped-call]
        for chunk in chunks:
            await server.send_input({"type": "http.request", "body": chunk, "more_body": chunk != chunks[-1]})
        start = await server.receive_output(timeout=30)
        await server.wait(timeout=30)
        return int(start["status"])

    return async_to_sync(call)()
