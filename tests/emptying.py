"""Emptying the database between tests that commit: only what was written to, a twentieth of the work of Django's `flush`.

`flush` creates the files of all seventy tables and their indexes anew, for each of nearly two thousand tests. Here a table without a page is
left as it is, and so are the two tables that the migrations filled for good; few rows are deleted, and only what has grown is truncated.
A small table that nobody has analyzed counts as ten pages for the planner, full or empty, so it is as good as new (the tests' server
has no autovacuum, which would come between).
"""

from collections.abc import Iterable
from functools import cache

from django.core.management.color import no_style
from django.db import connection, transaction
from django.test import TransactionTestCase

KEPT = frozenset({"django_migrations", "django_content_type", "auth_permission"})
_SMALL = 8 * 8_192
_WRITTEN_TO = """
    SELECT c.relname, c.reltuples < 0 AND pg_relation_size(c.oid) <= %s FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND pg_relation_size(c.oid) > 0
"""
# TRUNCATE wants to be given every table that points at one of its tables, empty or not.
_POINTING = """
    SELECT referred.relname, pointing.relname
    FROM pg_constraint k JOIN pg_class referred ON referred.oid = k.confrelid JOIN pg_class pointing ON pointing.oid = k.conrelid
    WHERE k.contype = 'f'
"""


def empty_what_was_written_to(case: TransactionTestCase | None = None) -> None:
    """Empty the database Django is connected to, as `TransactionTestCase` does at the end of a test."""
    with connection.cursor() as cursor:
        cursor.execute(_WRITTEN_TO, [_SMALL])
        written = {name: is_small for name, is_small in cursor.fetchall() if name in _list_tables()}
    grown = _with_pointing(name for name, is_small in written.items() if not is_small)
    _truncate(grown)
    _delete(written.keys() - grown)


def _truncate(tables: Iterable[str]) -> None:
    statements = connection.ops.sql_flush(no_style(), sorted(tables), reset_sequences=False)
    connection.ops.execute_sql_flush(statements)


def _delete(tables: Iterable[str]) -> None:
    """Delete all rows without asking for those that point at them, which go too; waits for who still writes, as TRUNCATE does."""
    names = [connection.ops.quote_name(name) for name in sorted(tables)]
    if names:
        statements = [
            "SET LOCAL session_replication_role = replica",
            f"LOCK TABLE {', '.join(names)} IN ACCESS EXCLUSIVE MODE",
            *(f"DELETE FROM {name}" for name in names),
        ]
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("; ".join(statements))


@cache
def _list_tables() -> frozenset[str]:
    """The tables that tests write to: those of models, and not those that tests make for themselves."""
    return frozenset(connection.introspection.django_table_names(include_views=False)) - KEPT


@cache
def _list_pointing() -> frozenset[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(_POINTING)
        return frozenset(pair for pair in cursor.fetchall() if pair[1] in _list_tables())


def _with_pointing(tables: Iterable[str]) -> set[str]:
    found, fresh = set[str](), set(tables)
    while fresh:
        found |= fresh
        fresh = {pointing for referred, pointing in _list_pointing() if referred in fresh} - found
    return found
