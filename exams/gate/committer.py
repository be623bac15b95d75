"""The committer: one plain thread that takes whatever waits in line and commits it as one group (ADR 0003).

A thread, and not a task of the event loop, so that no cancelled request and no closed browser can reach a COMMIT under
way. Every hand-in that joins gets exactly one verdict, whatever the database does meanwhile:
  a row that is locked or just changed          tried again, a few milliseconds later
  the statement failed                          nothing was stored: each is tried alone, so that one bad row is the only loser
  the connection was lost before it was sent    tried again, then `not_stored`
  the connection was lost under way             tried again (it is idempotent), then `unknown`

Patience bounds the tries, not the wait in line: however long somebody has waited, they are sent at least once wherever there is a
connection. They arrived in time and are judged by that; told "not stored" instead, they would have to arrive again, maybe after the deadline.
"""

import logging
import random
import threading
import time
from collections.abc import Sequence

import psycopg

from exams.gate.durability import NotDurable
from exams.gate.handin import NOT_STORED, UNKNOWN, Deliver, HandIn, Outcome, Verdict
from exams.gate.line import Line
from exams.gate.meters import GROUP_SECONDS, GROUP_SIZE
from exams.gate.session import Lost, Session

PATIENCE = 8.0  # seconds from its arrival in which a hand-in is tried again
_BUSY_PAUSE = 0.004
_FAILURE_PAUSE = 0.2
_SHORTEST_REST, _LONGEST_REST = 0.05, 1.0  # between two tries to connect
_MOST_LOSSES = 3  # connections one hand-in may lose before it is suspected of breaking them
# What may go well in a moment: a server that just became a standby, deadlock, lock and statement timeouts, no room.
_PASSING_CLASSES = ("25", "40", "53", "55", "57", "58")
_NO_ROOM_CLASS = "53"
# Somebody without the attempt's lock was faster: the next try sees whom.
_LOST_RACE = "one_submission_per_attempt"

log = logging.getLogger(__name__)


class Committer:
    """Owns the thread and its session. `deliver` is called on that thread, with each group's verdicts."""

    def __init__(self, *, session: Session, deliver: Deliver, patience: float = PATIENCE) -> None:
        self._session = session
        self._deliver = deliver
        self._patience = patience
        self._line = Line()
        self._rest = _SHORTEST_REST
        self._thread = threading.Thread(target=self._run, name="gate-committer", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def join(self, handins: Sequence[HandIn]) -> None:
        """Put hand-ins in line. Each one's verdict comes through `deliver`."""
        self._line.join(handins)

    def stop(self) -> None:
        """Commit what is still in line, then end the thread. Nothing may join any more."""
        self._line.close()
        self._thread.join()

    def _run(self) -> None:
        while group := self._line.take():
            try:
                self._commit(group)
            except Exception:  # a defect of ours: the line must go on, and nobody may wait for ever
                log.exception("The gate's committer failed on a group of %d.", len(group))
                self._deliver([(handin, UNKNOWN) for handin in group])
        self._session.close()

    def _commit(self, group: Sequence[HandIn]) -> None:
        if not self._connect():
            self._try_again(group, pause=0.0)
            return
        GROUP_SIZE.observe(len(group))
        try:
            with GROUP_SECONDS.time():
                verdicts = self._session.accept(group)
        except Lost as error:
            log.warning(
                "The gate lost its connection with %d hand-ins under way: %s", len(group), error.__cause__
            )
            for handin in group:
                handin.losses += 1
            self._try_again(group, pause=0.0)
        except Exception as error:  # noqa: BLE001 - whatever it is, one bad hand-in must be the only loser
            self._redo(group, error)
        else:
            self._settle(group, verdicts)

    def _connect(self) -> bool:
        """Make sure of the connection; after a failure rest before the next one, longer each time."""
        try:
            self._session.connect()
        except (Lost, NotDurable) as error:
            log.warning("The gate has no database: %s", error.__cause__ or error)
            time.sleep(_jitter(self._rest))
            self._rest = min(2 * self._rest, _LONGEST_REST)
            return False
        self._rest = _SHORTEST_REST
        return True

    def _settle(self, group: Sequence[HandIn], verdicts: Sequence[Verdict]) -> None:
        """Deliver the verdicts; those that were busy are tried again."""
        decided = [pair for pair in zip(group, verdicts, strict=True) if pair[1].outcome is not Outcome.BUSY]
        if decided:
            self._deliver(decided)
        if len(decided) < len(group):
            busy = [
                handin
                for handin, verdict in zip(group, verdicts, strict=True)
                if verdict.outcome is Outcome.BUSY
            ]
            self._try_again(busy, pause=_BUSY_PAUSE)

    def _redo(self, group: Sequence[HandIn], error: Exception) -> None:
        """After a failed statement: wait if that may pass, else find the one that is to blame.

        A database error has stored nothing. After any other (a defect of ours) nobody knows, but trying again tells.
        """
        if _has_no_room(error):
            log.warning("The gate waits for the server, with a group of %d: %s", len(group), error)
            time.sleep(
                _jitter(_FAILURE_PAUSE)
            )  # whoever tries fails: one try for all, and one line in a log on a full disk
            self._try_again(group, pause=0.0)
        elif _may_pass(error):
            log.warning("The gate tries a group of %d again: %s", len(group), error)
            self._try_again(group, pause=_FAILURE_PAUSE)
        elif len(group) == 1:
            log.error(
                "The gate could not store the hand-in for attempt %s.", group[0].attempt_id, exc_info=error
            )
            self._deliver([(group[0], NOT_STORED if isinstance(error, psycopg.Error) else UNKNOWN)])
        else:
            for handin in group:
                self._commit([handin])

    def _try_again(self, handins: Sequence[HandIn], *, pause: float) -> None:
        """Send back those that have patience left; tell the others what is known."""
        latest = time.monotonic() - self._patience
        given_up = []
        for handin in handins:
            if handin.arrived_at < latest or handin.losses >= _MOST_LOSSES:
                given_up.append((handin, UNKNOWN if handin.losses else NOT_STORED))
            else:
                self._line.send_back(handin, seconds=_jitter(pause))
        if given_up:
            self._deliver(given_up)


def _has_no_room(error: Exception) -> bool:
    """Say whether the server itself is out of something (disk, memory, connections), whoever asks."""
    return isinstance(error, psycopg.Error) and (error.sqlstate or "").startswith(_NO_ROOM_CLASS)


def _may_pass(error: Exception) -> bool:
    """Say whether the same statement may do well in a moment."""
    if not isinstance(error, psycopg.Error):
        return False
    return (error.sqlstate or "").startswith(_PASSING_CLASSES) or error.diag.constraint_name == _LOST_RACE


def _jitter(seconds: float) -> float:
    return seconds * random.uniform(0.5, 1.5)  # noqa: S311 - spreads tries, keeps no secret
