"""A teacher, and the API, while the database stands still: a real web server on a real PostgreSQL whose processes are all stopped."""

import json

import pytest
from django.db import connection

from config.admission.timely import bound_session
from tests import factories
from tests.overload.callers import ask, sign_in
from tests.quorum.rig import Rig
from tests.quorum.rigged import rig, rigs, template  # noqa: F401 - fixtures
from tests.serving import serving
from tests.waiting import wait_until

PAGE = "/marksheets/"
JSON = {"Content-Type": "application/json"}
SIGN_IN = b'{"username": "a", "password": "b"}'


@pytest.mark.process
def test_pages_say_in_time_that_the_database_is_away_and_work_when_it_is_back(rig: Rig) -> None:
    head = sign_in(factories.teacher())
    environment = {**rig.environment, "HANDOVER_DURABILITY": "local", "PAGE_SECONDS": "1"}
    with serving(environment) as server:
        assert ask(server.port, PAGE, head)[0] == 200
        for name in "abc":
            rig.freeze_node(name)
        reading = ask(server.port, PAGE, head)
        writing = ask(server.port, PAGE, head, method="POST")
        problem = ask(server.port, "/api/v1/tokens", JSON, method="POST", body=SIGN_IN)
        rig.thaw()
        wait_until(lambda: ask(server.port, PAGE, head)[0] == 200)

    assert [answer[0] for answer in (reading, writing, problem)] == [503, 503, 503]
    assert b"The database may be slow or away. Nothing was changed." in reading[2]
    assert b"It may or may not have been done." in writing[2]
    assert json.loads(problem[2])["code"] == "outcome_unknown"


@pytest.mark.django_db
@pytest.mark.parametrize(("before", "after"), [("0", "30s"), ("3s", "3s")])
def test_statements_of_pages_are_bounded_unless_they_are_already(before: str, after: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [before])
        bound_session(connection)
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == (after,)
