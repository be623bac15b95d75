"""Running the backfill: sheet after sheet, no faster than asked, and out of the way of those who need the database now.

The one thing to know: it may be killed anywhere. What a chunk found and how far it came are one commit, and nothing else is kept.
"""

import dataclasses
from collections.abc import Callable, Iterator
from uuid import UUID

from django.db import transaction

from config.cutover.moving import CannotMove
from config.cutover.pacing import Pace, Say
from gradebook.snapshots.phases import Phase, get_phase
from outbox.stopping import Stop
from projections.backfill.walking import Chunk, backfill_sheet, count_copies_to_come, list_unfilled_sheets

Report = Callable[[int, int], object]  # (copies compared, copies in all)


@dataclasses.dataclass
class Backfilled:
    """What a run did; complete when no sheet was left."""

    sheets: int = 0
    copies: int = 0
    lines: int = 0
    is_complete: bool = False


def run_backfill(
    stop: Stop, *, rate: float | None, rehearse: bool, report: Report, say: Say = lambda _: None
) -> Backfilled:
    """Backfill every sheet that is not yet, until done or told to stop. With `rehearse` each sheet is undone again.

    `report` hears how far it is, `say` why it waits, while it lets others go first. Raises `CannotMove` before the phase in which copies are backfilled.
    """
    if get_phase() < Phase.BACKFILL and not rehearse:
        raise CannotMove("Copies are backfilled from phase `backfill` on: `cutover advance` first.")
    sheets = list_unfilled_sheets()
    total = sum(map(count_copies_to_come, sheets))
    done = Backfilled()
    pace = Pace(stop, rate, say)
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
