"""A real web server forgets a revoked person within the promised time, at Django's doors and at the gate's."""

import http.client
import json
from collections.abc import Callable

import pytest
from django.db import connection

from exams import tokens
from exams.models import Attempt
from gradebook.models import User
from outbox.db import database_now
from tests import factories
from tests.serving import WebServer
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.process,
]


def switch_off_in_the_admin(person: User) -> None:
    person.is_active = False
    person.save()


def switch_off_in_sql(person: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE gradebook_user SET is_active = false WHERE id = %s", [person.pk])


def ask(port: int, method: str, path: str, token: str) -> int:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = (
        json.dumps({"answers": [1]}) if method == "POST" else None
    )  # well signed in, this is malformed: 400
    client.request(method, path, body, headers)
    status = client.getresponse().status
    client.close()
    return status


@pytest.mark.parametrize(
    "revoke", [switch_off_in_the_admin, switch_off_in_sql], ids=lambda revoke: revoke.__name__
)
def test_a_revoked_person_is_refused_within_the_promised_time(
    standing_gate: WebServer, revoke: Callable[[User], None]
) -> None:
    attempt = factories.attempt()
    neighbour = factories.attempt(attempt.revision)
    doors = {each.pk: list_doors(each) for each in (attempt, neighbour)}
    access = {each.pk: tokens.issue(each.student, now=database_now()).access for each in (attempt, neighbour)}

    def answers(of: Attempt) -> list[int]:
        return [ask(standing_gate.port, method, path, access[of.pk]) for method, path in doors[of.pk]]

    assert answers(attempt) == [200, 400]
    revoke(attempt.student)
    wait_until(lambda: answers(attempt) == [401, 401], seconds=tokens.REVOCATION_SECONDS)
    assert answers(neighbour) == [200, 400]


def list_doors(attempt: Attempt) -> list[tuple[str, str]]:
    """Return one door of Django's and the gate's."""
    path = f"/api/v1/attempts/{attempt.pk}"
    return [("GET", path), ("POST", f"{path}/submission")]
