"""What an acknowledgement promises, and the check that the promise was kept before it is given.

`local`: the write-ahead log is flushed on the database's own host; a commit that returned is that durable, provided the
server really flushes, which is asked once a connection. `quorum` will be a second class here, with a `verify` that
compares flushed positions (DESIGN 3); until it exists the gate refuses to start with it.
"""

from collections.abc import Mapping
from typing import Protocol

from django.core.exceptions import ImproperlyConfigured
from psycopg import Connection


class NotDurable(Exception):
    """The database server would lose acknowledged work; the gate accepts nothing."""


class Durability(Protocol):
    """One level of `HANDOVER_DURABILITY`."""

    @property
    def session_settings(self) -> Mapping[str, str]:
        """The settings a session needs for its commits to be this durable."""

    def check_server(self, connection: Connection) -> None:
        """Raise `NotDurable` when this server cannot keep the promise."""

    def verify(self, connection: Connection) -> bool:
        """Say whether what was just committed on this connection is as durable as promised."""


class LocalDurability:
    """Flushed to the disk of the primary."""

    session_settings: Mapping[str, str] = {"synchronous_commit": "local"}

    def check_server(self, connection: Connection) -> None:
        """Raise `NotDurable` on a server that does not wait for its disk."""
        row = connection.execute(
            "SELECT current_setting('fsync'), current_setting('full_page_writes')"
        ).fetchone()
        if row != ("on", "on"):
            raise NotDurable(
                f"The database server runs with fsync, full_page_writes = {row}; both must be on."
            )

    def verify(self, connection: Connection) -> bool:
        """Say yes: a COMMIT that returned without an error has been flushed."""
        return not connection.closed


def get_durability(name: str) -> Durability:
    """Return the level of this name, or raise `ImproperlyConfigured`."""
    if name != "local":
        raise ImproperlyConfigured(
            f"HANDOVER_DURABILITY={name!r} is not known; this version keeps the promise 'local'."
        )
    return LocalDurability()
