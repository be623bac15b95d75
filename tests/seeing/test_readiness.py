"""/readyz: 200 only while this process could acknowledge a submission."""

import pytest
from django.db import connection
from django.test import Client
from pytest_django import Settings

from config.health import overall
from config.health.readiness import CHECKS, asked
from exams.gate.durability import durability_problem

pytestmark = pytest.mark.django_db(transaction=True)

WELL = dict.fromkeys(CHECKS, "ok")


def ask(client: Client, peer: str = "127.0.0.1") -> tuple[int, dict[str, object]]:
    answer = client.get("/readyz", REMOTE_ADDR=peer)
    assert answer.headers["Cache-Control"].startswith("max-age=0, no-cache")
    return answer.status_code, answer.json()


def test_process_is_ready_though_no_worker_is_alive(client: Client) -> None:
    assert list(CHECKS) == ["database", "migrations", "durability", "keys"]
    assert ask(client) == (200, {"status": "ready", "checks": WELL})
    assert client.get("/healthz").status_code == 503


def test_process_is_not_ready_without_a_database(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    connection.close()
    status, body = ask(client, peer="192.0.2.7")
    assert (status, body["status"]) == (503, "not ready")
    checks = body["checks"]
    assert isinstance(checks, dict)
    assert (checks["database"], checks["durability"], checks["keys"]) == ("failed", "failed", "ok")


def test_process_is_not_ready_before_its_migrations(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overall, "_migrated", set())
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'outbox' RETURNING app, name, applied")
        taken = cursor.fetchall()
    try:
        found = ask(client)
    finally:
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, %s)", taken
            )
    words = "failed: The schema is not this version's (manage.py prepare)."
    assert found == (503, {"status": "not ready", "checks": {**WELL, "migrations": words}})


def test_process_is_not_ready_without_a_key_for_tokens(client: Client, settings: Settings) -> None:
    settings.TOKEN_KEYS = {}
    words = "failed: There is no key to sign tokens with (manage.py prepare)."
    assert ask(client) == (503, {"status": "not ready", "checks": {**WELL, "keys": words}})


def test_process_is_not_ready_on_a_server_that_has_no_standbys(client: Client, settings: Settings) -> None:
    settings.DURABILITY, settings.STANDBYS = "quorum", ["a", "b"]
    problem = durability_problem()
    assert problem == (
        "The database server cannot keep the promise 'quorum': "
        "synchronous_standby_names is empty: commits wait for no standby."
    )
    assert ask(client) == (
        503,
        {"status": "not ready", "checks": {**WELL, "durability": f"failed: {problem}"}},
    )


def test_words_of_a_fault_are_not_for_everybody(client: Client, settings: Settings) -> None:
    settings.TOKEN_KEYS = {}
    assert ask(client, peer="192.0.2.7")[1]["checks"] == {**WELL, "keys": "failed"}


def test_database_is_not_asked_again_within_a_second_of_its_answer(
    client: Client, settings: Settings
) -> None:
    ask(client)
    settings.DURABILITY, settings.STANDBYS = "quorum", ["a", "b"]
    assert ask(client)[0] == 200
    asked.forget()
    assert ask(client)[0] == 503


def test_readiness_takes_no_other_method(client: Client) -> None:
    assert client.post("/readyz").status_code == 405
