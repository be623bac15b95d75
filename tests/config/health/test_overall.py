"""/healthz: 200 only when work handed in now would reach the marksheet."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils.timezone import now

from config.health import overall
from outbox.models import Heartbeat
from outbox.processes import Heart

pytestmark = pytest.mark.django_db(transaction=True)


def beat_everywhere() -> None:
    for role in overall.list_expected_roles():
        Heart(role).beat()


def ask(client: Client) -> tuple[int, dict[str, object]]:
    answer = client.get("/healthz")
    assert answer.headers["Cache-Control"].startswith("max-age=0, no-cache")
    return answer.status_code, answer.json()


def test_health_is_up_when_everybody_has_beaten_lately(client: Client) -> None:
    beat_everywhere()
    assert ask(client) == (200, {"status": "up", "missing": []})


def test_health_names_every_role_that_is_missing(client: Client) -> None:
    assert ask(client) == (503, {"status": "down", "missing": overall.list_expected_roles()})
    assert {"worker", "sequencer", "sweeper"} <= set(overall.list_expected_roles())


def test_health_names_the_one_that_fell_silent(client: Client) -> None:
    beat_everywhere()
    Heartbeat.objects.filter(role="worker").update(seen_at=now() - overall.FRESH - timedelta(seconds=1))
    assert ask(client) == (503, {"status": "down", "missing": ["worker"]})


def test_health_names_missing_migrations(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    beat_everywhere()
    monkeypatch.setattr(overall, "_migrated", set())
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'outbox' RETURNING app, name, applied")
        taken = cursor.fetchall()
    try:
        found = ask(client)
    finally:
        MigrationRecorder.Migration.objects.bulk_create(
            MigrationRecorder.Migration(app=app, name=name, applied=at) for app, name, at in taken
        )
    assert found == (503, {"status": "down", "missing": ["migrations"]})


def test_health_names_a_database_that_does_not_answer(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    connection.close()
    assert ask(client) == (503, {"status": "down", "missing": ["database"]})


def test_health_takes_no_other_method(client: Client) -> None:
    assert client.post("/healthz").status_code == 405
