"""The few database helpers every app shares: named SQL files, and "this needs a transaction"."""

from functools import cache
from importlib import resources

from django.db import connection, transaction


@cache
def load_sql(package: str, name: str) -> str:
    """Return the text of `<package>/sql/<name>.sql`; one statement a file, read once per process."""
    return (
        resources.files(package)
        .joinpath("sql", f"{name}.sql")
        .read_text(encoding="utf-8")
    )


def require_transaction(using: str = "default") -> None:
    """Raise `TransactionManagementError` unless the caller has opened a transaction."""
    if not transaction.get_connection(using).in_atomic_block:
        message = "This must run inside a transaction: the state and its event commit together."
        raise transaction.TransactionManagementError(message)


def database_now() -> object:
    """Return the database's clock (`clock_timestamp()`), the only clock that decides anything."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        row = cursor.fetchone()
    return row[0]
