"""The watch: one thread a process that knows how far the standbys are, for everybody in it who needs to know.

It looks ten times a second, and as fast as the server answers while somebody waits. What it saw last also answers, without asking
anybody, whether a commit could be made safe at all: the gate sheds before it begins what could not end.
"""

import logging
import threading
import time
from collections.abc import Callable

import psycopg

from outbox.quorum.hanging_up import bounds
from outbox.quorum.positions import Position, Reading, read_wal_position
from outbox.quorum.rule import Quorum

_IDLE_SECONDS = 0.1
_BUSY_SECONDS = 0.001
_RECONNECT_SECONDS = 0.2
_ANSWER_SECONDS = 2.0  # a server that does not say where it is within this is not asked for commits either
_STALE_SECONDS = 1.0
_STALLED_SECONDS = 2.0  # standbys that are connected and do not move: frozen, or their disk is

Connect = Callable[[], psycopg.Connection]

log = logging.getLogger(__name__)


class Watch:
    """Looks at one database's standbys until it is stopped."""

    def __init__(self, quorum: Quorum, connect: Connect) -> None:
        self.quorum = quorum
        self._connect = connect
        self._changed = threading.Condition()
        self._waiting = 0
        self._is_stopped = False
        self._last: Reading | None = None
        self._seen_at = 0.0
        self._progress = _Progress()
        self._said: str | None = None
        self._lamented: str | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look, unless that was done."""
        if self._thread is not None:
            return
        with self._changed:
            if self._thread is None:
                self._seen_at = time.monotonic()
                self._thread = threading.Thread(target=self._run, name="quorum-watch", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the thread and close its connection."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    @property
    def last(self) -> Reading | None:
        """What was seen last; None before the first look, and while the database cannot be reached."""
        return self._last

    def find_problem(self) -> str | None:
        """Say why nothing could be made safe at this moment; None when all is well, or not known yet.

        Costs nothing: the last look answers.
        """
        self.start()
        reading, now = self._last, time.monotonic()
        if now - self._seen_at > _STALE_SECONDS:
            return "the database has not said lately how far its standbys are"
        if reading is None:
            return None
        if fault := reading.find_fault(self.quorum):
            return fault
        if reading.streaming < self.quorum.needed:
            return f"{reading.streaming} of the standbys {', '.join(self.quorum.members)} are streaming, {self.quorum.needed} needed"
        if now - self._progress.moved_at > _STALLED_SECONDS:
            return "the standbys are connected and do not flush what they get"
        return None

    def wait_for(self, position: Position, *, seconds: float) -> bool:
        """Say whether enough standbys have flushed the log up to this place, waiting so long for it."""
        self.start()
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
            try:
                self._changed.wait_for(lambda: self._decide(position) is not None, timeout=seconds)
                return self._decide(position) is True
            finally:
                self._waiting -= 1

    def _decide(self, position: Position) -> bool | None:
        """Yes, no, or not yet."""
        if self._last is None:
            return None
        if self._last.find_fault(self.quorum) is not None:
            return False
        return True if self._last.holds(position) else None

    def _run(self) -> None:
        while not self._is_stopped:
            try:
                with self._connect() as connection:
                    self._look(connection)
            except psycopg.Error as error:
                self._note(None)
                self._lament(str(error).strip().partition("\n")[0])
                self._rest(_RECONNECT_SECONDS)

    def _look(self, connection: psycopg.Connection) -> None:
        while not self._is_stopped:
            with bounds.hang_up_after(_ANSWER_SECONDS, connection):
                reading = read_wal_position(connection, self.quorum)
            self._note(reading)
            self._rest(_BUSY_SECONDS if self._waiting else _IDLE_SECONDS)

    def _rest(self, seconds: float) -> None:
        """Let others look at what was seen; come back early when somebody begins to wait."""
        with self._changed:
            if not self._is_stopped:
                self._changed.wait(seconds)

    def _note(self, reading: Reading | None) -> None:
        with self._changed:
            self._last = reading
            if reading is not None:
                self._seen_at = time.monotonic()
                self._lamented = None
                self._progress.note(reading, self._seen_at)
            self._changed.notify_all()
        self._say(self.find_problem())

    def _lament(self, reason: str) -> None:
        """Write each reason to the log once an outage, not five times a second: the disk may be full."""
        if reason != self._lamented:
            log.warning("The standbys cannot be watched: %s", reason)
            self._lamented = reason

    def _say(self, problem: str | None) -> None:
        """Write a change of state to the log once: this is what an operator is woken for."""
        if problem == self._said:
            return
        if problem is None:
            log.warning("Submissions can be acknowledged again: enough standbys follow.")
        else:
            log.error("No submission can be acknowledged: %s.", problem)
        self._said = problem


class _Progress:
    """When the standbys were last seen to have everything, or to have moved."""

    def __init__(self) -> None:
        self.moved_at = time.monotonic()
        self._quorum = 0

    def note(self, reading: Reading, now: float) -> None:
        """Take in a reading."""
        if reading.quorum >= reading.flushed or reading.quorum != self._quorum:
            self.moved_at = now
        self._quorum = reading.quorum
