"""What an acknowledgement promises, and the check that the promise was kept before it is given (ADR 0011).

`local`: the write-ahead log is flushed on the database's own host; a commit that returned is that durable, provided the
server really flushes, which is asked once a connection. `quorum`: it is flushed on enough standbys too. A commit that
returned does not say so, so positions in the log are compared after each one.
"""

import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from psycopg import Connection
from psycopg.errors import Diagnostic

from exams.gate.admission import overloaded
from exams.gate.meters import CANCELLED_WAITS
from outbox.quorum import Position, Watch, get_quorum, get_watch, read_wal_position
from outbox.quorum.hanging_up import bounds
from outbox.quorum.reads import connect_to_watch

# A request is told "unknown" within 5 s, whatever its commit waits for; the closing of attempts counts on the second number.
VERDICT_SECONDS = 4.0
COMMIT_SECONDS = 6.0
_BARRIER_SECONDS = 2.5
_WAITING_LEVELS = ("on", "remote_apply")
_CANCELLED = "01000"  # the only sign of it: a warning (PostgreSQL's syncrep.c)
_SHED = (
    "Submissions cannot be made safe at this moment; please send the same request again after Retry-After."
)

log = logging.getLogger(__name__)


class NotDurable(Exception):
    """The database server would lose acknowledged work; the gate accepts nothing."""


class Durability(Protocol):
    """One level of `HANDOVER_DURABILITY`."""

    @property
    def session_settings(self) -> Mapping[str, str]:
        """The settings a session needs for its commits to be this durable."""

    @property
    def verdict_seconds(self) -> float:
        """How long a request waits at most until it is told that its outcome is unknown."""

    def check_ready(self) -> None:
        """Raise `Overloaded` when no commit could be made this durable now. Memory only: called for every request."""

    def check_server(self, connection: Connection) -> None:
        """Raise `NotDurable` when this server cannot keep the promise."""

    def bound(self, connection: Connection) -> AbstractContextManager[None]:
        """Return the block to commit in: it ends within `COMMIT_SECONDS` if nothing else bounds the wait."""

    def verify(self, connection: Connection) -> bool:
        """Say whether what was just committed on this connection is as durable as promised."""


class LocalDurability:
    """Flushed to the disk of the primary."""

    session_settings: Mapping[str, str] = {"synchronous_commit": "local"}
    verdict_seconds = float("inf")

    def check_ready(self) -> None:
        """Let everybody through."""

    def check_server(self, connection: Connection) -> None:
        """Raise `NotDurable` on a server that does not wait for its disk."""
        row = connection.execute(
            "SELECT current_setting('fsync'), current_setting('full_page_writes')"
        ).fetchone()
        if row != ("on", "on"):
            raise NotDurable(
                f"The database server runs with fsync, full_page_writes = {row}; both must be on."
            )

    def bound(self, connection: Connection) -> AbstractContextManager[None]:
        """Return a block that bounds nothing: the session's own timeouts do."""
        return nullcontext()

    def verify(self, connection: Connection) -> bool:
        """Say yes: a COMMIT that returned without an error has been flushed."""
        return not connection.closed


class QuorumDurability:
    """Flushed to the disk of the primary and of enough standbys."""

    session_settings: Mapping[str, str] = {"synchronous_commit": "on"}
    verdict_seconds = VERDICT_SECONDS

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.cancelled_waits = 0

    def check_ready(self) -> None:
        """Shed before the database is asked, while too few standbys follow."""
        if self._watch.find_problem() is not None:
            raise overloaded(_SHED)

    def check_server(self, connection: Connection) -> None:
        """Raise `NotDurable` on a server whose commits do not wait for enough of our standbys."""
        if fault := find_server_fault(connection, self._watch):
            raise NotDurable(f"The database server cannot keep the promise 'quorum': {fault}.")
        connection.add_notice_handler(self._note)

    def bound(self, connection: Connection) -> AbstractContextManager[None]:
        """Hang up on a commit that waits too long: nothing else ends that wait (`outbox.quorum.hanging_up`)."""
        return bounds.hang_up_after(COMMIT_SECONDS, connection)

    def verify(self, connection: Connection) -> bool:
        """Compare positions, as often as needed until the barrier's time is over.

        The comparison *is* the barrier: the log is one sequence, so whatever was committed on this connection is on enough
        standbys once they have flushed up to where the primary's log ended afterwards. After the commit no error may look
        like "nothing was stored": it raises only when the connection is gone.
        """
        try:
            reading = read_wal_position(connection, self._watch.quorum)
        except psycopg.Error as error:
            if connection.closed:
                raise
            log.warning("A commit could not be verified: %s", error)
            return False
        if reading.level not in _WAITING_LEVELS or reading.find_fault(self._watch.quorum) is not None:
            return False
        return reading.holds(reading.position) or self._await(reading.position)

    def _await(self, position: Position) -> bool:
        return self._watch.wait_for(position, seconds=_BARRIER_SECONDS)

    def _note(self, notice: Diagnostic) -> None:
        """Count a cancelled wait. It decides nothing: the positions do, for that commit too."""
        if notice.sqlstate == _CANCELLED:
            self.cancelled_waits += 1
            CANCELLED_WAITS.inc()
            log.error("A commit's wait for its standbys was cancelled: %s", notice.message_primary)


def find_server_fault(connection: Connection, watch: Watch) -> str | None:
    """Say what keeps this server from keeping the promise `quorum`; the standbys themselves may be away for a while."""
    try:
        return read_wal_position(connection, watch.quorum).find_fault(watch.quorum)
    except psycopg.errors.InsufficientPrivilege:
        return "this role may not call outbox_standbys (manage.py grant_app_role)"
    except psycopg.errors.UndefinedFunction:
        return "the function outbox_standbys is missing (manage.py migrate)"


def get_durability(name: str) -> Durability:
    """Return the level of this name, or raise `ImproperlyConfigured`."""
    match name:
        case "local":
            return LocalDurability()
        case "quorum":
            try:
                return QuorumDurability(get_watch())
            except ValueError as error:
                raise ImproperlyConfigured(f"HANDOVER_DURABILITY='quorum': {error}.") from error
    raise ImproperlyConfigured(f"HANDOVER_DURABILITY={name!r} is not known: it is 'local' or 'quorum'.")


def durability_problem(*, using: str = "default") -> str | None:
    """Say in words why no submission could be acknowledged now, None if one could: for readiness and `check --deploy`.

    Asks the database on a connection of its own. Never raises for the database.
    """
    try:
        durability = get_durability(settings.DURABILITY)
        with connect_to_watch(using) as connection:
            durability.check_server(connection)
            quorum = get_quorum()
            reading = quorum and read_wal_position(connection, quorum)
    except (ImproperlyConfigured, NotDurable) as error:
        return str(error)
    except psycopg.Error as error:
        return f"The database cannot be asked: {str(error).strip().partition(chr(10))[0]}"
    if quorum and reading and reading.streaming < quorum.needed:
        return f"{reading.streaming} of the standbys {', '.join(quorum.members)} are streaming, {quorum.needed} needed."
    return None
