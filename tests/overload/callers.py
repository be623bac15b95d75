"""Requests to a real server, from threads: a connection each, and all that was answered."""

import http.client
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from django.conf import settings
from django.db import connection
from django.test import Client

from gradebook.models import User
from tests.posting import Sitting

Reply = tuple[int, dict[str, str], bytes]


def ask(
    port: int,
    path: str,
    head: Mapping[str, str] | None = None,
    *,
    method: str = "GET",
    body: bytes | None = None,
) -> Reply:
    """Send one request."""
    server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        server.request(method, path, body, head or {})
        response = server.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return response.status, headers, response.read()
    finally:
        server.close()


def sign_in(person: User) -> dict[str, str]:
    """Return the headers of somebody who is signed in to the pages."""
    client = Client()
    client.force_login(person)
    return {"Cookie": f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"}


def save_draft(port: int, sitting: Sitting) -> int:
    """Save a first draft; return the status."""
    path = f"/api/v1/attempts/{sitting.attempt_id}/draft"
    head = {"Authorization": f"Bearer {sitting.token}", "Content-Type": "application/json"}
    return ask(port, path, head, method="PUT", body=b'{"answers": {}, "token": null}')[0]


def ask_many(
    pool: ThreadPoolExecutor, number: int, port: int, path: str, head: dict[str, str]
) -> list[Future[Reply]]:
    """Send so many requests at once."""
    return [pool.submit(ask, port, path, head) for _ in range(number)]


def count_lock_waits() -> int:
    """Return how many sessions on this database wait for a lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        row = cursor.fetchone()
        return int(row[0]) if row else 0
