"""Emptying the database between tests that commit: only what was written to, a quarter of the work of Django's `flush`.

`flush` creates the files of all seventy tables and their indexes anew and then asks for every permission again, for each of nearly two
thousand tests. Here a table without a page is left as it is, and so are the two tables that the migrations filled for good.
"""

from collections.abc import Iterable
from functools import cache

from django.core.management.color import no_style
from django.db import connection
from django.test import TransactionTestCase

KEPT = frozenset({"django_migrations", "django_content_type", "auth_permission"})
_WRITTEN_TO = """
    SELECT c.relname FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND pg_relation_size(c.oid) > 0
"""
# TRUNCATE wants to be given every table that points at one of its tables, empty or not.
_POINTING = """
    SELECT referred.relname, pointing.relname
    FROM pg_constraint k JOIN pg_class referred ON referred.oid = k.confrelid JOIN pg_class pointing ON pointing.oid = k.conrelid
    WHERE k.contype = 'f'
"""


def empty_what_was_written_to(case: TransactionTestCase) -> None:
    """Empty the test's database, as `TransactionTestCase` does at the end of a test."""
    with connection.cursor() as cursor:
        cursor.execute(_WRITTEN_TO)
        written = {name for (name,) in cursor.fetchall()} & _list_tables()
    statements = connection.ops.sql_flush(no_style(), sorted(_with_pointing(written)), reset_sequences=False)
    connection.ops.execute_sql_flush(statements)


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
