"""PostgreSQL column types that Django has no field for."""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


class Xid8Field(models.Field[int, int]):
    """A 64-bit transaction id (`xid8`); never wraps. Always written by the database, never by hand."""

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        """Return the PostgreSQL type."""
        return "xid8"

    def from_db_value(self, value: Any, *_: object) -> int | None:
        """Psycopg hands an xid8 over as text or int, by version; Python sees an int."""
        return None if value is None else int(value)


class CurrentTransactionId(models.Func):
    """`pg_current_xact_id()`: assigns the transaction its id if it has none yet."""

    function = "pg_current_xact_id"
    arity = 0
    output_field = Xid8Field()


class ClockTimestamp(models.Func):
    """`clock_timestamp()`: the database's clock as it is now, not as it was when the transaction began."""

    function = "clock_timestamp"
    arity = 0
    output_field = models.DateTimeField()
