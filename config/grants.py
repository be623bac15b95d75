"""What the application's role may do: everything its work needs, and nothing that would rewrite the past."""

from django.db import connections, transaction
from psycopg import sql

from outbox.consumers.registry import list_consumers
from outbox.consumers.tables import bind_live_tables
from outbox.db import load_sql

GRANTS = (
    "grant_schema",
    "grant_tables",
    "revoke_emptying",
    "grant_emptying",
    "grant_sequences",
    "grant_functions",
    "revoke_log",
    "revoke_migrations",
)


class RoleMissing(Exception):
    """The application's role does not exist on this server."""


def grant_app_role(role: str, *, using: str = "owner") -> None:
    """Give the role its rights on every table there is now, in one transaction. To be repeated after each migration."""
    with transaction.atomic(using), connections[using].cursor() as cursor:
        cursor.execute(load_sql("config", "find_missing_role"), {"role": role})
        if cursor.fetchone():
            raise RoleMissing(
                f"There is no role {role} on this server. Create it (CREATE ROLE {role} LOGIN PASSWORD '…'), "
                "or name another one in HANDOVER_APP_ROLE."
            )
        names = {"role": sql.Identifier(role), "tables": sql.SQL(", ").join(_list_projected())}
        for name in GRANTS:
            statement = sql.SQL(load_sql("config", name)).format(**names)
            cursor.execute(statement.as_string(cursor.connection))


def has_own_role() -> bool:
    """Say whether application and migrations connect as different roles; with one role there is nothing to grant."""
    return bool(connections["default"].settings_dict["USER"] != connections["owner"].settings_dict["USER"])


def _list_projected() -> list[sql.Identifier]:
    """Return the tables that hold nothing but what the log says."""
    return [table for handler in list_consumers() for table in bind_live_tables(handler).values()]
