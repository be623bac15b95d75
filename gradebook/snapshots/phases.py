"""The phases of the way from the copies to the log, and what each of them means for reading and writing.

The one thing to know: every place that behaves differently by phase asks one function of this file, and nothing else decides it.
"""

import enum
from typing import Final
from uuid import UUID

from django.db import connection

from gradebook.models import Cutover
from outbox.db import load_sql, require_transaction, run_together

# Both halves of the advisory lock: "copy", and the only cut-over there is.
_NAMESPACE: Final = 0x636F7079
_CUTOVER: Final = 1
FIND_CUTOVER: Final = ("gradebook", "find_cutover_of_sheet")
SHARE_CUTOVER: Final = ("gradebook", "share_cutover")
CUTOVER: Final = {"namespace": _NAMESPACE, "cutover": _CUTOVER}  # its parameters
_PATIENCE: Final = "2s"  # a save takes milliseconds; one that takes longer is somebody's forgotten session


class Phase(enum.IntEnum):
    """How far the cut-over is. The number is stored; the name is what an operator types."""

    NONE = 0
    BESIDE = 1
    BACKFILL = 2
    REPLAY = 3
    HISTORY = 4
    LOCKED = 5
    STOPPED = 6

    @property
    def word(self) -> str:
        """Its name, as it is shown and typed."""
        return self.name.lower()

    @property
    def meaning(self) -> str:
        """What it is, in a sentence."""
        return _MEANINGS[self]

    @property
    def keeps_copies(self) -> bool:
        """Whether a change of marks writes a copy beside its events."""
        return Phase.BESIDE <= self < Phase.STOPPED

    @property
    def shows_history_of_copies(self) -> bool:
        """Whether the history page still compares copies, as the old system did."""
        return Phase.BESIDE <= self < Phase.HISTORY

    @property
    def shows_locked_copies(self) -> bool:
        """Whether a locked sheet still shows its last copy."""
        return Phase.BESIDE <= self < Phase.LOCKED


_MEANINGS: Final = {
    Phase.NONE: "There is no old system: nothing writes or reads copies.",
    Phase.BESIDE: "Every change of marks writes its events and, beside them, a copy as before.",
    Phase.BACKFILL: "The history from before the log is filled in from the copies.",
    Phase.REPLAY: "The history since is caught up from the log.",
    Phase.HISTORY: "The history pages read the history, no copies.",
    Phase.LOCKED: "Locked sheets show their marks, not their last copy.",
    Phase.STOPPED: "No copies are written any more. Those there are stay for ever.",
}


def get_phase() -> Phase:
    """Return the phase as it is now, without holding it. One query."""
    found = Cutover.objects.values_list("phase", flat=True).first()
    return Phase(found or 0)


def share_phase() -> Phase:
    """Return the phase and keep it from changing until the transaction ends. One query.

    Shares the cut-over's advisory lock, which whoever moves the phase takes alone: after a move, no writer is left that acts by the old
    phase.
    """
    require_transaction()
    ((row,),) = run_together([SHARE_CUTOVER], CUTOVER)
    return Phase(*row)


def hold_phase() -> Phase:
    """Return the phase and let nobody else read it for writing or move it until the transaction ends.

    Waits for those who are just saving, but not for long, because everybody who saves next waits behind it: then the database's
    `lock_timeout` is raised.
    """
    require_transaction()
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "limit_lock_wait"), {"patience": _PATIENCE})
        cursor.execute("SELECT pg_advisory_xact_lock(%(namespace)s, %(cutover)s)", CUTOVER)
    return get_phase()


def reads_copies_for_history(found: tuple[int, bool]) -> bool:
    """Whether a sheet's history page compares its copies, given the row that `FIND_CUTOVER` found; the one switch of the history read.

    A sheet without copies never was in the old system.
    """
    phase, is_copied = found
    return Phase(phase).shows_history_of_copies and is_copied


def has_copies(sheet_id: UUID) -> bool:
    """Whether a sheet has copies, from before the log or since. One query."""
    (((_, is_copied),),) = run_together([FIND_CUTOVER], {"sheet": sheet_id})
    return bool(is_copied)
