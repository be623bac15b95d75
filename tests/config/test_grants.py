"""S10: what the application's role may do, tried as that role."""

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from config.grants import RoleMissing, grant_app_role
from projections.analytics.projector import Analytics
from projections.history.projector import MarksheetHistory

LOG = {
    "outbox_event": "payload",
    "outbox_eventposition": "digest",
    "outbox_tick": "digest",
    "gradebook_marksnapshot": "cells",
}  # and a column of each


def list_rights(url: str) -> dict[str, set[str]]:
    """Each table's rights of the role that connects, as the server sees them."""
    query = (
        "SELECT relname, array_agg(right_name) FROM pg_class, unnest(%s::text[]) AS right_name "
        "WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND has_table_privilege(oid, right_name) "
        "GROUP BY relname"
    )
    with psycopg.connect(url) as app:
        return {
            table: set(rights)
            for table, rights in app.execute(query, [["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE"]])
        }


@pytest.mark.django_db(transaction=True)
def test_application_works_with_every_table_and_only_adds_to_the_log(app_database_url: str) -> None:
    rights = list_rights(app_database_url)
    everything = {"SELECT", "INSERT", "UPDATE", "DELETE"}
    projected = {table for handler in (Analytics, MarksheetHistory) for table in handler.tables}
    assert {table: rights.pop(table) for table in projected} == {
        table: {*everything, "TRUNCATE"} for table in projected
    }
    assert {table: rights.pop(table) for table in LOG} == {table: {"SELECT", "INSERT"} for table in LOG}
    assert rights.pop("django_migrations") == {"SELECT"}
    assert rights == dict.fromkeys(
        set(connection.introspection.table_names()) - {*LOG, *projected, "django_migrations"}, everything
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("table", ["exams_submission", "exams_examrevision", "gradebook_mark"])
def test_application_cannot_empty_what_its_triggers_keep(app_database_url: str, table: str) -> None:
    """They are asked for each row that changes or goes, and not when all go at once."""
    statement = sql.SQL("TRUNCATE {} CASCADE").format(sql.Identifier(table))
    with psycopg.connect(app_database_url) as app, pytest.raises(psycopg.errors.InsufficientPrivilege):
        app.execute(statement)


@pytest.mark.django_db
def test_grant_takes_back_what_earlier_versions_gave(app_database_url: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("GRANT TRUNCATE ON exams_submission TO handover_app")
        grant_app_role("handover_app", using="default")
        cursor.execute("SELECT has_table_privilege('handover_app', 'exams_submission', 'TRUNCATE')")
        assert cursor.fetchone() == (False,)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("table", LOG)
@pytest.mark.parametrize(
    "statement", ["DELETE FROM {}", "TRUNCATE {}", "UPDATE {} SET {} = NULL", "DROP TABLE {}"]
)
def test_application_cannot_rewrite_the_log(app_database_url: str, table: str, statement: str) -> None:
    with psycopg.connect(app_database_url) as app, pytest.raises(psycopg.errors.InsufficientPrivilege):
        app.execute(sql.SQL(statement).format(sql.Identifier(table), sql.Identifier(LOG[table])))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mine (id int)",
        "SELECT setval('outbox_event_seq_seq', 1)",
        "SET ROLE handover_owner",
        "CREATE ROLE other",
    ],
)
def test_application_cannot_change_the_schema_or_become_somebody_else(
    app_database_url: str, statement: str
) -> None:
    with psycopg.connect(app_database_url) as app, pytest.raises(psycopg.errors.InsufficientPrivilege):
        app.execute(statement.encode())


@pytest.mark.django_db
def test_grant_names_a_role_that_is_missing() -> None:
    with pytest.raises(RoleMissing, match="There is no role nobody_here on this server"):
        grant_app_role("nobody_here", using="default")
