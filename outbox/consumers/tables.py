"""Which tables a consumer writes to: its own, or, while a rebuild fills twins beside them, those."""

from collections.abc import Mapping

from psycopg import sql

from outbox.consumers.consumer import ConsumerHandler, Projection
from outbox.errors import NotRebuildable

Tables = Mapping[str, sql.Identifier]
TWIN_SUFFIX = "_twin"


def bind_live_tables(handler: ConsumerHandler) -> Tables:
    """Return the tables as they are; a consumer that is no projection has none to bind."""
    tables = handler.tables if isinstance(handler, Projection) else ()
    return {table: sql.Identifier(table) for table in tables}


def bind_twin_tables(projection: Projection) -> Tables:
    """Return the twins: temporary tables, so they go away with the session, however it ends."""
    return {table: sql.Identifier("pg_temp", table + TWIN_SUFFIX) for table in projection.tables}


def get_projection(handler: ConsumerHandler) -> Projection:
    """Return the consumer as a projection; raise NotRebuildable when it has no tables of its own."""
    if not isinstance(handler, Projection) or not handler.tables:
        raise NotRebuildable(
            f"{handler.name} keeps no tables of its own: its effects are not made again by a replay."
        )
    return handler
