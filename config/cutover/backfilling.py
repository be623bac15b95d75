"""Running the backfill: sheet after sheet, no faster than asked, and out of the way of those who need the database now.

The one thing to know: it may be killed anywhere. What a chunk found and how far it came are one commit, and nothing else is kept.
"""

import dataclasses
import logging
import time
from collections.abc import Callable, Iterator
from typing import Final
from uuid import UUID

from django.db import transaction

from config.cutover.moving import CannotMove
from gradebook.snapshots.phases import Phase, get_phase
from outbox.staleness import get_consumer_status
from outbox.stopping import Stop
from projections.backfill.walking import Chunk, backfill_sheet, count_copies_to_come, list_unfilled_sheets
from projections.history.projector import MarksheetHistory

logger = logging.getLogger(__name__)

LONGEST_WAIT: Final = 1.0  # between two looks at a history that is behind

Report = Callable[[int, int], object]  # (copies compared, copies in all)


@dataclasses.dataclass
class Backfilled:
    """What a run did; complete when no sheet was left."""

    sheets: int = 0
    copies: int = 0
    lines: int = 0
    is_complete: bool = False


def run_backfill(stop: Stop, *, rate: float | None, rehearse: bool, report: Report) -> Backfilled:
    """Backfill every sheet that is not yet, until done or told to stop. With `rehearse` each sheet is undone again.

    Raises `CannotMove` before the phase in which copies are backfilled.
    """
    if get_phase() < Phase.BACKFILL and not rehearse:
        raise CannotMove("Copies are backfilled from phase `backfill` on: `cutover advance` first.")
    sheets = list_unfilled_sheets()
    total = sum(map(count_copies_to_come, sheets))
    done = Backfilled()
    pace = _Pace(stop, rate)
    for sheet_id in sheets:
        done.sheets += 1
        for chunk in _walk(sheet_id, rehearse=rehearse):
            done.copies += chunk.copies
            done.lines += chunk.lines
            report(done.copies, total)
            if not pace.keep(chunk.copies):
                return done
    done.is_complete = True
    return done


def _walk(sheet_id: UUID, *, rehearse: bool) -> Iterator[Chunk]:
    if not rehearse:
        yield from backfill_sheet(sheet_id)
        return
    with transaction.atomic():
        yield from backfill_sheet(sheet_id)
        transaction.set_rollback(True)


class _Pace:
    """Keeps a run to its rate, and lets a history that is behind catch up first."""

    def __init__(self, stop: Stop, rate: float | None) -> None:
        self._stop = stop
        self._rate = rate
        self._began = time.monotonic()
        self._copies = 0

    def keep(self, copies: int) -> bool:
        """Wait as long as it takes after so many more copies; return False when told to stop."""
        self._copies += copies
        if self._rate:
            ahead = self._copies / self._rate - (time.monotonic() - self._began)
            if ahead > 0:
                self._stop.wait(ahead)
        self._let_history_catch_up()
        return not self._stop.is_set

    def _let_history_catch_up(self) -> None:
        status = get_consumer_status(MarksheetHistory.name)
        if status.is_stale:
            logger.warning(
                "Waiting: the history is %.0f s behind. Are sequencer and consumers running?",
                status.staleness.total_seconds(),
            )
        while not self._stop.is_set and get_consumer_status(MarksheetHistory.name).is_stale:
            self._stop.wait(LONGEST_WAIT)
