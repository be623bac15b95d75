"""Handing in over real HTTP, from threads: kept-alive connections, and everything an answer said."""

import dataclasses
import http.client
import json
import threading
from typing import Any, Self
from uuid import UUID

from exams import tokens
from exams.models import Attempt
from outbox.db import database_now


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def code(self) -> str:
        """The problem's code; empty for a receipt."""
        return str(self.body.get("code", ""))


@dataclasses.dataclass(frozen=True, slots=True)
class Sitting:
    """An attempt in the hands of its student: its id, and the token to hand it in with."""

    attempt_id: UUID
    token: str

    @property
    def path(self) -> str:
        """The address to post to."""
        return f"/api/v1/attempts/{self.attempt_id}/submission"


def sitting_of(attempt: Attempt) -> Sitting:
    """Return the attempt with a token of its student."""
    return Sitting(attempt.pk, tokens.issue(attempt.student, now=database_now()).access)


class Poster:
    """Posts to one server; each thread keeps a connection of its own. In a `with`, all are closed at its end."""

    def __init__(self, port: int, *, timeout: float = 60) -> None:
        self.port = port
        self._timeout = timeout
        self._local = threading.local()
        self._opened: list[http.client.HTTPConnection] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._opened:
            connection.close()

    def hand_in(self, sitting: Sitting, answers: dict[str, Any]) -> Answer:
        """Hand in these answers."""
        return self.post(sitting, json.dumps({"answers": answers}).encode())

    def post(self, sitting: Sitting, body: bytes, **headers: str) -> Answer:
        """Post a body as it is. Raises OSError or HTTPException when no answer comes; the next call connects anew."""
        chosen = {"Authorization": f"Bearer {sitting.token}", "Content-Type": "application/json"} | headers
        connection = self._connection()
        try:
            connection.request("POST", sitting.path, body, chosen)
            response = connection.getresponse()
            return Answer(
                response.status,
                {name.lower(): value for name, value in response.getheaders()},
                json.loads(response.read()),
            )
        except BaseException:
            connection.close()
            raise

    def _connection(self) -> http.client.HTTPConnection:
        if not hasattr(self._local, "connection"):
            self._local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self._timeout)
            self._opened.append(self._local.connection)
        connection: http.client.HTTPConnection = self._local.connection
        return connection
