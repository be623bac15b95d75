"""The thread beside a worker that keeps what the worker holds: renews its leases, and shows that the process lives.

It has a database connection of its own, because the worker's is busy. On it lies a session lock named after the worker: the sign
of life. PostgreSQL drops it the moment the process dies, so the sweeper can take the jobs back at once and need not
wait for the lease; a frozen process keeps it and is waited for. Whoever judges wrongly does no harm: the lease is the fence.
"""

import contextlib
import datetime as dt
import logging
import threading
import time
from collections.abc import Iterator
from typing import Self
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection

from outbox.db import fetch_row, load_sql
from outbox.processes import Heart
from outbox.queue.claim import Claim, name_held_jobs

logger = logging.getLogger(__name__)

SIGN_OF_LIFE = 0x6C696665  # "life"; the other half of the advisory lock is a hash of the worker's incarnation
SECONDS_BETWEEN_TURNS = 1.0
SECONDS_FOR_FIRST_SIGN = SECONDS_TO_CLOSE = 5.0


class Hold:
    """A batch the keeper renews. `lost` becomes true when nothing of it is ours any more."""

    def __init__(self, claim: Claim, renew_at: float) -> None:
        self.claim = claim
        self.renew_at = renew_at  # on the monotonic clock
        self.lost = False


class Keeper(threading.Thread):
    """Runs from `with keeper:` to its end; a worker's `claim` may name `keeper.worker` as the holder."""

    def __init__(self, heart: Heart, lease: dt.timedelta) -> None:
        super().__init__(name="lease-keeper", daemon=True)
        self._heart = heart
        self._lease = lease
        self._seconds_between_renewals = lease.total_seconds() / 3
        self._alive = threading.Event()
        self._closing = threading.Event()
        self._hold: Hold | None = None

    def __enter__(self) -> Self:
        self.start()
        self._alive.wait(SECONDS_FOR_FIRST_SIGN)  # so that even the first claim names a holder
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self.join(timeout=SECONDS_TO_CLOSE)

    @property
    def worker(self) -> UUID | None:
        """Who holds what is claimed now: this incarnation, or None while it cannot show a sign of life (then only the lease counts)."""
        return self._heart.incarnation if self._alive.is_set() else None

    @contextlib.contextmanager
    def holding(self, claim: Claim) -> Iterator[Hold]:
        """Renew the leases of this batch from now to the end of the block."""
        self._hold = hold = Hold(claim, time.monotonic() + self._seconds_between_renewals)
        try:
            yield hold
        finally:
            self._hold = None

    def run(self) -> None:
        """Take turns until closed. A lost connection costs the sign of life, not the thread."""
        while True:
            try:
                self._take_turn()
            except (DatabaseError, InterfaceError) as error:
                logger.warning("No sign of life for now: %s", str(error).strip())
                self._alive.clear()
                connection.close()
            if self._closing.wait(min(SECONDS_BETWEEN_TURNS, self._seconds_between_renewals)):
                break
        with contextlib.suppress(DatabaseError, InterfaceError):
            self._heart.stop()
        connection.close()

    def _take_turn(self) -> None:
        if show_life(self._heart.incarnation):
            self._alive.set()
        else:  # a pooler gave us another connection: without a sign of life only the lease counts
            self._alive.clear()
        self._heart.beat()
        hold = self._hold
        if hold and time.monotonic() >= hold.renew_at:
            hold.lost = hold.lost or renew_leases(hold.claim, self._lease) == 0
            hold.renew_at = time.monotonic() + self._seconds_between_renewals


def show_life(worker: UUID) -> bool:
    """Hold the worker's sign of life on this thread's connection; return whether it is held."""
    with connection.cursor() as cursor:
        (alive,) = fetch_row(cursor, "outbox", "show_life", {"namespace": SIGN_OF_LIFE, "worker": worker})
    return bool(alive)


def renew_leases(claim: Claim, lease: dt.timedelta) -> int:
    """Make the leases of a batch last from now; return how many were renewed. Never waits for a row."""
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "renew_leases"), name_held_jobs(claim.jobs) | {"lease": lease})
        return int(cursor.rowcount)
