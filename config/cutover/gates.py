"""The gates: what has to be so before the cut-over goes on. Each looks at one sheet at a time, in a snapshot of its own.

The one thing to know: a gate changes nothing that it looks at and never waits for people: what somebody saves while it looks is either in the
snapshot with its copy, its marks and its events, or not in it at all. What it has found right it reads again only once something about it
has changed; before the last door, everything.
"""

import dataclasses
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q

from config.cutover.findings import Finding, GateReport
from config.cutover.looks import digest_sheet, forget, list_known, remember
from config.cutover.parity import compare_batch, compare_cells, compare_lines, compare_views
from gradebook.cells import CellKey
from gradebook.entries import plain
from gradebook.events import MarkChanged, cell_subject
from gradebook.models import Cutover, Mark, MarkSheet, MarkSnapshot
from gradebook.snapshots.cells import CopiedCell, Copy, compare_copies
from gradebook.snapshots.phases import Phase
from gradebook.snapshots.reading import (
    count_copies_before_log,
    get_newest_cells,
    list_copied_sheets,
    walk_copies,
    walk_copies_back,
)
from outbox.consumers.staleness import get_consumer_status, get_sequencer_lag
from outbox.db import load_sql
from projections.backfill.lines import draw_lines
from projections.backfill.old_history import walk_old_history
from projections.history.projector import MarksheetHistory
from projections.models import BackfillCheckpoint, BackfilledMark, WholeHistory

ALL: Final = 2**31 - 1
KEPT_BESIDE: Final = "kept_beside"

Report = Callable[[int, int], object]  # (sheets looked at, sheets in all)


@dataclasses.dataclass(frozen=True, slots=True)
class Gate:
    """A gate of a phase: its name, the sheets it looks at, and what it looks for in each."""

    phase: Phase
    name: str
    list_sheets: Callable[[], list[UUID]]
    check_sheet: Callable[[UUID], Iterator[Finding]]
    check_whole: Callable[[], Iterator[Finding]] = lambda: iter(())
    reads_all: bool = False

    def check(self, report: Report = lambda *_: None, *, reads_all: bool = False) -> GateReport:
        """Look at everything, and name the first differences. With `reads_all` also at the sheets that it knows to be right."""
        looked = GateReport(self.name, began=time.monotonic())
        for finding in self.check_whole():
            looked.add(finding)
        known = {} if self.reads_all or reads_all else list_known(self.phase)
        sheets = self.list_sheets()
        for number, sheet_id in enumerate(sheets, start=1):
            self._look_at(sheet_id, known.get(sheet_id), looked)
            report(number, len(sheets))
        return looked.end()

    def _look_at(self, sheet_id: UUID, known: str | None, looked: GateReport) -> None:
        before = looked.total
        with _one_moment():
            digest = digest_sheet(sheet_id)
            if digest != known:
                for finding in self.check_sheet(sheet_id):
                    looked.add(finding)
        looked.count_sheet(is_known=digest == known)
        if looked.total > before:
            forget(self.phase, [sheet_id])
        elif digest != known:
            remember(self.phase, sheet_id, digest)


@contextmanager
def _one_moment() -> Iterator[None]:
    """Read everything as of one moment."""
    with transaction.atomic():
        if not connection.savepoint_ids:  # nobody has opened a transaction around this one
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def check_marks(sheet_id: UUID) -> Iterator[Finding]:
    """The newest copy of a sheet says what its marks say, cell by cell."""
    return compare_cells(sheet_id, get_newest_cells(sheet_id), _list_marks(sheet_id))


def check_events(sheet_id: UUID) -> Iterator[Finding]:
    """Each copy written beside events differs from the one before it by exactly what those events say."""
    events = _list_events(sheet_id)
    older: Copy | None = None
    for copy in walk_copies(sheet_id):
        if copy.batch_id is not None:
            found = compare_copies(older.cells if older else {}, copy.cells)
            changes = {each.key: (_text(each.old), _text(each.new)) for each in found}
            yield from compare_batch(sheet_id, changes, events.get(copy.batch_id, {}))
        older = copy


def check_backfill(sheet_id: UUID) -> Iterator[Finding]:
    """All copies from before the log have become lines, and each line is what comparing two copies gives, id and place included."""
    checkpoint = BackfillCheckpoint.objects.filter(sheet_id=sheet_id).first()
    copies = count_copies_before_log(sheet_id)
    if copies and not (checkpoint and checkpoint.is_complete and checkpoint.copies == copies):
        done = checkpoint.copies if checkpoint else 0
        yield Finding(sheet_id, None, f"{done} of {copies} copies are backfilled: run `cutover backfill`")
        return
    found = BackfilledMark.objects.filter(sheet_id=sheet_id).order_by("-pos").iterator()
    expected = draw_lines(walk_copies_back(sheet_id, upto=None, most=ALL))
    yield from compare_lines(sheet_id, expected, found)
    yield from check_marks(sheet_id)


def check_view(sheet_id: UUID) -> Iterator[Finding]:
    """The history page shows what comparing the copies shows."""
    started_at = Cutover.objects.values_list("started_at", flat=True).first()
    lines = WholeHistory.objects.filter(sheet_id=sheet_id).exclude(reason=KEPT_BESIDE)
    if started_at:  # what was changed here before the cut-over began has no copies
        with_copies = MarkSnapshot.objects.filter(sheet=sheet_id, batch_id__isnull=False).values("batch_id")
        lines = lines.filter(Q(pos__lt=0) | Q(occurred_at__gte=started_at) | Q(batch_id__in=with_copies))
    yield from compare_views(sheet_id, walk_old_history(sheet_id), lines.order_by("pos").iterator())


def check_consumer() -> Iterator[Finding]:
    """The history has read the whole log, and nothing had to be set aside."""
    status = get_consumer_status(MarksheetHistory.name)
    if status.parked_subjects:
        yield Finding(
            None, None, f"{status.parked_subjects} cells are parked: `manage.py consumers` shows why"
        )
    if status.is_rebuilding:
        yield Finding(None, None, "the history is being rebuilt")
    if get_sequencer_lag() > status.budget:
        yield Finding(None, None, "the sequencer is behind: is it running?")
    if status.is_stale or (status.position != status.head and status.state == "paused"):
        yield Finding(None, None, f"the history is {status.waiting} events behind: is its consumer running?")


def check_no_new_copies() -> Iterator[Finding]:
    """Nobody has written a copy since the last phase began."""
    moved_at = Cutover.objects.values_list("moved_at", flat=True).first()
    late = MarkSnapshot.objects.filter(created_at__gt=moved_at).order_by("created_at") if moved_at else ()
    for copy in late:
        yield Finding(copy.sheet_id, None, f"a copy was written at {copy.created_at:%Y-%m-%d %H:%M:%S}")


def _list_locked() -> list[UUID]:
    locked = set(MarkSheet.objects.filter(period__locked_at__isnull=False).values_list("id", flat=True))
    return [sheet for sheet in list_copied_sheets() if sheet in locked]


def _list_none() -> list[UUID]:
    return []


def _list_marks(sheet_id: UUID) -> dict[CellKey, CopiedCell]:
    marks = Mark.objects.filter(sheet=sheet_id).values_list(
        "column_id", "student_id", "value", "code", "source"
    )
    return {
        CellKey(column, student): CopiedCell("" if value is None else plain(value), code, source)
        for column, student, value, code, source in marks
    }


def _list_events(sheet_id: UUID) -> dict[UUID, dict[CellKey, tuple[str, str]]]:
    keys = Mark.objects.filter(sheet=sheet_id).values_list("column_id", "student_id")
    subjects = [cell_subject(*key) for key in keys]
    events: dict[UUID, dict[CellKey, tuple[str, str]]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(
            load_sql("config", "list_cell_events"), {"subjects": subjects, "kind": MarkChanged.kind}
        )
        for batch_id, column, student, old, new in cursor.fetchall():
            events[batch_id][CellKey(column, student)] = (old, new)
    return events


def _text(cell: CopiedCell | None) -> str:
    return (cell.value or cell.code) if cell else ""


def _nothing(_sheet_id: UUID) -> Iterator[Finding]:
    return iter(())


START: Final = Gate(Phase.NONE, "marks are what the newest copies say", list_copied_sheets, check_marks)
GATES: Final[dict[Phase, Gate]] = {
    gate.phase: gate
    for gate in (
        Gate(Phase.BESIDE, "events complete", list_copied_sheets, check_events),
        Gate(Phase.BACKFILL, "history is the copies', cell by cell", list_copied_sheets, check_backfill),
        Gate(Phase.REPLAY, "history at the head of the log", _list_none, _nothing, check_consumer),
        Gate(Phase.HISTORY, "pages show the same history", list_copied_sheets, check_view),
        Gate(Phase.LOCKED, "locked sheets are what their last copies say", _list_locked, check_marks),
        Gate(Phase.STOPPED, "no new copies", _list_none, _nothing, check_no_new_copies),
    )
}


def list_gates(phase: Phase) -> list[Gate]:
    """Return the gates that have to be green in a phase before the next one.

    Those of all phases up to it, and the next one's own where it switches what people see: a page is not switched to something else.
    In front of the last door they read everything, whatever they know.
    """
    if phase is Phase.NONE:
        return [START]
    if phase is Phase.STOPPED:
        return [GATES[Phase.STOPPED]]
    upto = phase + 1 if phase in {Phase.REPLAY, Phase.HISTORY} else phase
    gates = [GATES[Phase(number)] for number in range(1, upto + 1)]
    return [dataclasses.replace(gate, reads_all=phase is Phase.LOCKED) for gate in gates]
