"""Places in the write-ahead log, and the one question that is put to a server about them."""

from typing import NamedTuple

import psycopg
from psycopg.rows import namedtuple_row

from outbox.db import load_sql
from outbox.quorum.rule import Quorum


class Position(NamedTuple):
    """A place in the log of one run of one primary. Places of different servers say nothing about each other."""

    server: str
    lsn: int


class Reading(NamedTuple):
    """What a server said of itself at one moment (`read_wal_position.sql`)."""

    server: str
    flushed: int  # the end of its own log
    quorum: int  # how far enough standbys have flushed it; 0 while not enough are streaming
    streaming: int  # how many of the standbys that count are connected and up to date enough to stream
    names: str
    level: str
    is_flushing: bool

    @property
    def position(self) -> Position:
        """Where everything committed before this reading lies, at the latest."""
        return Position(self.server, self.flushed)

    def holds(self, position: Position) -> bool:
        """Say whether enough standbys have flushed the log up to this place."""
        return self.server == position.server and self.quorum >= position.lsn

    def find_fault(self, quorum: Quorum) -> str | None:
        """Return what is wrong with the server's settings, None when a commit on it waits as it should."""
        if not self.is_flushing:
            return "the server runs without fsync or full_page_writes"
        return quorum.find_fault(self.names)


def read_wal_position(connection: psycopg.Connection, quorum: Quorum) -> Reading:
    """Ask the server; on the connection of the commit, and after it."""
    parameters = {"members": list(quorum.members), "needed": quorum.needed}
    cursor = connection.cursor(row_factory=namedtuple_row)
    row = cursor.execute(load_sql("outbox", "read_wal_position").encode(), parameters).fetchone()
    return Reading(*row)  # type: ignore[misc] # the statement always gives one row
