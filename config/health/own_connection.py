"""A connection for a look at the database: apart from the pool, which requests need, and given up when the server is silent."""

import contextlib
from collections.abc import Iterator

from django.db import DEFAULT_DB_ALIAS, connections

from outbox.quorum.hanging_up import bounds

_CONNECT_SECONDS = 2  # libpq's least; for each host, where there are several


@contextlib.contextmanager
def outside_the_pool(*, seconds: float) -> Iterator[None]:
    """Let Django use a new connection in this thread, for the length of the block. Only for threads that end with it.

    A statement that takes longer is ended by the server; a server that does not even do that is hung up on. Both raise `OperationalError`.
    """
    pooled = connections[DEFAULT_DB_ALIAS]  # not connected yet: what the thread would use otherwise
    options = {name: value for name, value in pooled.settings_dict["OPTIONS"].items() if name != "pool"}
    chosen = {
        "connect_timeout": _CONNECT_SECONDS,
        "options": f"{options.get('options', '')} -c statement_timeout={round(seconds * 1000)}".strip(),
        "application_name": "handover-look",
    }
    own = type(pooled)({**pooled.settings_dict, "OPTIONS": {**options, **chosen}}, DEFAULT_DB_ALIAS)
    connections[DEFAULT_DB_ALIAS] = own
    try:
        own.ensure_connection()
        with bounds.hang_up_after(seconds, own.connection):
            yield
    finally:
        own.close()
