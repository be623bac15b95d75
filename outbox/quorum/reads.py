"""The barrier for everything but the gate's own commits: what was read, or written, through Django's connection.

Reads never wait for a standby. A row that a commit left behind whose wait was cancelled is visible at once and may be nowhere else, so
whoever tells somebody outside that it is there (a student, a mail server) asks here first.
"""

import threading

import psycopg
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connections

from outbox.db import connection_arguments
from outbox.errors import Unavailable
from outbox.quorum.positions import read_wal_position
from outbox.quorum.rule import Quorum
from outbox.quorum.watch import Watch

_watches: dict[str, Watch] = {}
_watches_lock = threading.Lock()


def get_quorum() -> Quorum | None:
    """Return the rule at the level `quorum`, None at the level `local`. Raises ValueError."""
    return make_quorum() if settings.DURABILITY == "quorum" else None


def make_quorum() -> Quorum:
    """Return the rule that the settings state. Raises ValueError when nothing could fulfil it."""
    return Quorum(tuple(name.lower() for name in settings.STANDBYS), settings.STANDBYS_NEEDED)


def get_watch(using: str = "default") -> Watch:
    """Return this process's one watch on a database; it starts when somebody first needs it."""
    with _watches_lock:
        if using not in _watches:
            _watches[using] = Watch(make_quorum(), lambda: connect_to_watch(using))
        return _watches[using]


def find_quorum_problem(using: str = "default") -> str | None:
    """Say why no commit could be made safe at this moment; None when all is well, not known yet, or the level is `local`."""
    return None if get_quorum() is None else get_watch(using).find_problem()


def stop_watching() -> None:
    """Stop and forget all watches; the next `get_watch` begins anew."""
    with _watches_lock:
        for watch in _watches.values():
            watch.stop()
        _watches.clear()


def connect_to_watch(using: str = "default") -> psycopg.Connection:
    """Open a connection of its own to this database's primary."""
    chosen = {
        "target_session_attrs": "read-write",
        "connect_timeout": 3,
        "application_name": "handover-watch",
    }
    return psycopg.connect(**{**connection_arguments(using), **chosen}, autocommit=True)


def await_quorum(*, using: str = "default", seconds: float = 1.0) -> bool:
    """Say whether everything this connection has seen or committed so far is safe on enough standbys; wait so long for it.

    Always true at the level `local`. Call it after the read, or after the commit, that somebody outside will be told about.
    """
    if get_quorum() is None:
        return True
    watch = get_watch(using)
    django = connections[using]
    try:
        django.ensure_connection()
        reading = read_wal_position(django.connection, watch.quorum)
    except (psycopg.Error, DatabaseError):  # nobody there to ask is a "not known" too
        return False
    if reading.find_fault(watch.quorum) is not None:
        return False
    return reading.holds(reading.position) or watch.wait_for(reading.position, seconds=seconds)


def require_quorum() -> None:
    """Raise `Unavailable` unless `await_quorum`: the relay's barrier, before anything leaves the database."""
    if not await_quorum():
        raise Unavailable("Too few standbys have what is to be published; it is published once they have.")
