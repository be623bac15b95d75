"""The sequencer: gives every committed event a dense position, in an order that never changes again.

A sequence number is taken at insert and becomes visible at commit, so numbers appear out of order and a reader that remembers the
highest one loses events. Here one short pass numbers whatever is visible now and was not at the last tick, then writes the next
tick. Any process may run a pass, any number of them at once: two passes from the same tick write the same key, and one
fails. Proof, rules and rejected ways: docs/adr/0001-event-order.md.
"""

import dataclasses
import enum
from datetime import timedelta

from django.db import IntegrityError, connection, connections, transaction
from django.db.backends.utils import CursorWrapper

from outbox.db import find_constraint, find_row, forbid_transaction, load_sql
from outbox.errors import LogOfAnotherCluster
from outbox.faults import fault_point

LOCK_NAMESPACE = 0x6C6F67  # "log"; the other half of the advisory lock is the shard
FROZEN_PASS_ENDS_AFTER = timedelta(seconds=5)
FENCES = {"outbox_tick_pkey", "outbox_eventposition_pkey"}


class PassOutcome(enum.StrEnum):
    """How a pass ended. Only `NUMBERED` wrote anything."""

    NUMBERED = "numbered"
    NOTHING_NEW = "nothing new"
    BUSY = "busy"  # another pass is at work
    FENCED = "fenced"  # another pass was faster: its tick took the key


@dataclasses.dataclass(frozen=True, slots=True)
class Pass:
    """What one pass did: the tick it wrote, and the positions it gave (none: `last_pos` is before `first_pos`)."""

    outcome: PassOutcome
    tick_id: int = 0
    first_pos: int = 1
    last_pos: int = 0

    @property
    def count(self) -> int:
        """How many events were numbered."""
        return self.last_pos - self.first_pos + 1


@dataclasses.dataclass(frozen=True, slots=True)
class LastTick:
    """Where the log stands. Without any tick: before everything, so that the first pass numbers all there is."""

    tick_id: int = 0
    epoch: int = 0
    shard: int = 0
    last_pos: int = 0
    seq_floor: int = 0
    xmax: str = "0"  # xid8 travels as text: as a number it would come back with a type that does not compare
    xip: list[str] = dataclasses.field(default_factory=list)
    digest: bytes = b""
    is_foreign: bool = False  # written by another server, where transaction ids were further


def sequence_events() -> Pass:
    """Run one pass in a transaction of its own. Losing a race is an outcome, not an error."""
    forbid_transaction()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            if not begin_pass(cursor):
                return Pass(PassOutcome.BUSY)
            done = number_events(cursor, get_last_tick(cursor))
            fault_point("in_pass")
            return done
    except IntegrityError as error:
        if find_constraint(error) not in FENCES:
            raise
        return Pass(PassOutcome.FENCED)


def start_epoch(*, using: str = "owner") -> Pass:
    """Begin a new epoch after a restore; every cursor of an older one refuses to run from now on.

    Waits until nobody is writing events (SHARE lock on the event table, which takes its owner), and holds writers off while it
    numbers.
    """
    forbid_transaction(using)
    with transaction.atomic(using), connections[using].cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("LOCK TABLE outbox_event IN SHARE MODE")  # takes no snapshot: the next statement does
        return _write_tick(cursor, "start_epoch", get_last_tick(cursor))


def begin_pass(cursor: CursorWrapper, *, frozen_after: timedelta = FROZEN_PASS_ENDS_AFTER) -> bool:
    """Open a pass and take its snapshot; return False when another pass is at work.

    A process that freezes in the middle keeps others waiting until the server ends its session, `frozen_after` later.
    """
    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    idle = f"{frozen_after.total_seconds() * 1000:.0f}ms"
    row = find_row(cursor, "outbox", "begin_pass", {"namespace": LOCK_NAMESPACE, "shard": 0, "idle": idle})
    return bool(row and row[0])


def get_last_tick(cursor: CursorWrapper) -> LastTick:
    """Return the last tick, as this transaction sees it."""
    row = find_row(cursor, "outbox", "get_last_tick", {})
    return LastTick(*row) if row else LastTick()


def number_events(cursor: CursorWrapper, last: LastTick) -> Pass:
    """Number what came after `last` and write the next tick.

    Raises IntegrityError when another pass has done so already, LogOfAnotherCluster when `last` is foreign: what is written here has
    smaller transaction ids than the tick and would be passed over for ever.
    """
    if last.is_foreign:
        raise LogOfAnotherCluster
    return _write_tick(cursor, "number_events", last)


def _write_tick(cursor: CursorWrapper, statement: str, last: LastTick) -> Pass:
    cursor.execute(load_sql("outbox", statement), dataclasses.asdict(last))
    row = cursor.fetchone()
    return Pass(PassOutcome.NUMBERED, *row) if row else Pass(PassOutcome.NOTHING_NEW)
