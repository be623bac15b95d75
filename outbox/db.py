"""The few database helpers every app shares: named SQL files, "this needs a transaction", what is worth a retry."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any, cast

from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    OperationalError,
    connection,
    connections,
    transaction,
)
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from outbox.errors import Unavailable

# Failures that say nothing about the work itself, by SQLSTATE class (PostgreSQL manual, appendix A): connection lost,
# serialization and deadlock, out of resources, limits exceeded, operator intervention, system error.
TRANSIENT_CLASSES = frozenset({"08", "40", "53", "54", "57", "58"})
LOCK_NOT_AVAILABLE = "55P03"
# Raised by a limit of ours on purpose (`idle_in_transaction_session_timeout` and its kin).
INVALID_TRANSACTION_TERMINATION = "25P03"


@cache
def load_sql(package: str, name: str) -> str:
    """Return the text of `<package>/sql/<name>.sql`; one statement a file, read once per process."""
    return (resources.files(package) / "sql" / f"{name}.sql").read_text(encoding="utf-8")


# What belongs to Django's own cursors and to its pool, and is unknown to psycopg.connect.
_DJANGOS = ("cursor_factory", "context", "prepare_threshold", "pool")


def connection_arguments(using: str = DEFAULT_DB_ALIAS) -> dict[str, Any]:
    """Return what `psycopg.connect` needs for a connection of its own, apart from Django's, to this database."""
    arguments = connections[using].get_connection_params()
    return {name: value for name, value in arguments.items() if name not in _DJANGOS}


def bind_tables(statement: str, tables: Mapping[str, sql.Composable]) -> str:
    """Return the statement with each `{name}` replaced by its table, quoted by psycopg."""
    composed = sql.SQL(statement).format(**tables)
    connection.ensure_connection()
    return composed.as_string(connection.connection)


def fetch_row(
    cursor: CursorWrapper, package: str, name: str, parameters: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Run a named statement that always gives a row (an aggregate, say) and return it."""
    row = find_row(cursor, package, name, parameters)
    assert row is not None
    return row


def find_row(
    cursor: CursorWrapper, package: str, name: str, parameters: Mapping[str, Any]
) -> tuple[Any, ...] | None:
    """Run a named statement and return its first row, or None."""
    cursor.execute(load_sql(package, name), parameters)
    return cast("tuple[Any, ...] | None", cursor.fetchone())


def run_together(
    statements: Sequence[tuple[str, str]], parameters: Mapping[str, Any]
) -> list[list[tuple[Any, ...]]]:
    """Run named statements (package, name) one after the other in one round trip; return the rows of each (none: no rows).

    They are sent as one text, whose values the client fills in (Django's cursors do, unless told otherwise). Each still begins with a
    snapshot of its own: what waits for a lock in one is seen by the next. When one fails, those after it do not run.
    """
    text = ";\n".join(load_sql(*statement).rstrip().removesuffix(";") for statement in statements)
    with connection.cursor() as cursor:
        cursor.execute(text, parameters)
        answers = [_read_answer(cursor)]
        while cursor.nextset():
            answers.append(_read_answer(cursor))
    return answers


def _read_answer(cursor: CursorWrapper) -> list[tuple[Any, ...]]:
    """Ask the result whether there are rows: the cursor's `description` would describe every column of them for it."""
    return cursor.fetchall() if cursor.pgresult.nfields else []


def require_transaction(using: str = "default") -> None:
    """Raise `TransactionManagementError` unless the caller has opened a transaction."""
    if not transaction.get_connection(using).in_atomic_block:
        message = "This must run inside a transaction: the state and its event commit together."
        raise transaction.TransactionManagementError(message)


def forbid_transaction(using: str = "default") -> None:
    """Raise `TransactionManagementError` when the caller has a transaction open: this needs one of its own."""
    if transaction.get_connection(using).in_atomic_block:
        message = "This must not run inside a transaction: it needs its own snapshot and its own commit."
        raise transaction.TransactionManagementError(message)


def database_now() -> datetime:
    """Return the database's clock (`clock_timestamp()`), the only clock that decides anything."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cast("datetime", cursor.fetchone()[0])


def find_sqlstate(error: BaseException) -> str | None:
    """Return the SQLSTATE of a database error (Django's or psycopg's), None when the server never said one."""
    state = getattr(error, "sqlstate", None) or getattr(error.__cause__, "sqlstate", None)
    return cast("str | None", state)


def find_constraint(error: BaseException) -> str | None:
    """Return the name of the constraint a database error speaks of, if it speaks of one."""
    diagnosis = getattr(error.__cause__, "diag", None)
    return diagnosis.constraint_name if diagnosis else None


def is_transient(error: BaseException) -> bool:
    """Say whether the same work may succeed if it is simply done again later: the fault is not in the work.

    A database error without a SQLSTATE never reached the server or lost it on the way: a broken connection.
    """
    if isinstance(error, Unavailable):
        return True
    if not isinstance(error, DatabaseError | InterfaceError):
        return False
    state = find_sqlstate(error)
    if state is None:
        return isinstance(error, OperationalError | InterfaceError)  # the connection broke
    return state[:2] in TRANSIENT_CLASSES or state in {LOCK_NOT_AVAILABLE, INVALID_TRANSACTION_TERMINATION}


def check_deferred_constraints() -> None:
    """Check now, in this savepoint, what would be checked at commit: there, it would fail everybody's work and name nobody."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
