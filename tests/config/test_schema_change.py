"""Changing the schema while others are at work: nobody waits behind it, and two who start at once take turns."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction

from config import schema_change
from config.schema_change import KEY, SchemaIsBusy, change_schema
from outbox.db import connection_arguments

pytestmark = pytest.mark.django_db

TABLE = "gradebook_letterscale"


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_change, "PATIENCE", "20ms")
    monkeypatch.setattr(schema_change, "SECONDS_BETWEEN_TRIES", 0.0)
    monkeypatch.setattr(schema_change, "TRIES", 3)


@pytest.fixture
def backup() -> Iterator[psycopg.Connection[Any]]:
    """Somebody who has begun to read the table, and goes on for an hour."""
    with psycopg.connect(**connection_arguments(), application_name="pg_dump") as session:
        session.execute(f"SELECT FROM {TABLE}")
        yield session


def alter_table() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {TABLE} IN ACCESS EXCLUSIVE MODE")


def ask(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


def test_change_is_made_once_the_table_is_free(backup: psycopg.Connection[Any]) -> None:
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        backup.rollback()

    change_schema(alter_table, say=say, using="default")
    assert said == [
        (
            f"A table is in use (session {backup.info.backend_pid} of {backup.info.user}, pg_dump). "
            "Nobody is to wait behind us, so we let them pass and try again."
        )
    ]


def test_change_lets_others_into_the_table_between_its_tries(backup: psycopg.Connection[Any]) -> None:
    with (
        psycopg.connect(**connection_arguments(), options="-c lock_timeout=1s") as student,
        pytest.raises(SchemaIsBusy, match="pg_dump"),
    ):
        change_schema(alter_table, say=lambda _: student.execute(f"SELECT FROM {TABLE}"), using="default")


def test_change_that_never_got_its_table_leaves_the_session_as_it_was(
    backup: psycopg.Connection[Any],
) -> None:
    with pytest.raises(SchemaIsBusy):
        change_schema(alter_table, say=str, using="default")
    assert ask("SHOW lock_timeout") == "0"
    assert backup.execute("SELECT pg_try_advisory_lock(%s)", [KEY]).fetchone() == (True,)


def test_change_waits_for_another_process_that_changes_the_schema(backup: psycopg.Connection[Any]) -> None:
    backup.execute("SELECT pg_advisory_lock(%s)", [KEY])
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        backup.execute("SELECT pg_advisory_unlock(%s)", [KEY])

    change_schema(lambda: said.append("changed"), say=say, using="default")
    assert said == ["Another process is changing the schema; waiting for it.", "changed"]


def test_change_that_fails_is_not_tried_again() -> None:
    tries: list[int] = []

    def fail() -> None:
        tries.append(1)
        raise OperationalError("The disk is full.")

    with pytest.raises(OperationalError, match="The disk is full"):
        change_schema(fail, say=str, using="default")
    assert tries == [1]
