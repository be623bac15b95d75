"""Is what was committed safe on enough machines? Asked after the fact, because PostgreSQL's own word is not enough (ADR 0011).

A COMMIT can return without having been replicated: its wait was cancelled, or somebody emptied `synchronous_standby_names`.
The one thing to know: a position in the write-ahead log, read after the commit on the same connection, and the flushed
positions of the standbys we expect, answer the question whatever happened to the wait.
"""

from outbox.quorum.positions import Position, Reading, read_wal_position
from outbox.quorum.reads import await_quorum, find_quorum_problem, get_quorum, get_watch, require_quorum
from outbox.quorum.rule import Quorum
from outbox.quorum.watch import Watch

__all__ = [
    "Position",
    "Quorum",
    "Reading",
    "Watch",
    "await_quorum",
    "find_quorum_problem",
    "get_quorum",
    "get_watch",
    "read_wal_position",
    "require_quorum",
]
