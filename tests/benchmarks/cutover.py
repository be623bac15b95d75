"""What the way out of the copies costs and what it buys: the walk through them, the drawer of the class with 862, and the bytes of an edit."""

import functools
import resource
import statistics
from collections.abc import Iterator
from decimal import Decimal
from uuid import UUID

import psycopg
from django.db import connection

from gradebook.cells import CellChange, CellKey
from gradebook.entries import Entry
from gradebook.models import Column, MarkSheet, MarkSnapshot, User
from gradebook.services.marks import save_marks
from gradebook.snapshots.phases import Phase
from outbox.batches import run_batch
from outbox.sequencer import sequence_events
from projections.backfill.old_history import list_old_history
from projections.backfill.walking import backfill_sheet, list_unfilled_sheets
from projections.history.projector import MarksheetHistory
from projections.history.queries import PAGE_SIZE, list_sheet_history
from projections.models import BackfillCheckpoint, BackfilledMark
from tests import factories
from tests.benchmarks.harness import BenchDatabase, paired, run, timed
from tests.benchmarks.results import Row
from tests.cutover.copies import enter

COPIES, BUCKET, CELLS = 20_000, 862, 600
MOST_MEMORY = 200 * 2**20
READS = 100
EDITS, COPIED_EDITS = 10_000, 500
KEPT_FOR_AN_EDIT = (
    "gradebook_mark",
    "outbox_event",
    "outbox_eventposition",
    "outbox_tick",
    "projections_markhistory",
)
# Copy n of a sheet: cell k was last changed at the last step m <= n with 7 m = k (mod 600), so neighbours differ in one cell.
FILL_COPIES = """
    INSERT INTO gradebook_marksnapshot
        (id, school_id, sheet_id, action, created_at, created_by_id, created_by_name, batch_id, layout, cells)
    SELECT gen_random_uuid(), %(school)s, %(sheet)s, 'saved', timestamptz '2024-09-02 08:00+00' + number * interval '1 hour', NULL,
           'Old Teacher', NULL,
           (SELECT jsonb_build_object(
                'columns', (SELECT jsonb_agg(jsonb_build_object('id', md5('c' || place)::uuid, 'title', 'Quiz ' || place))
                            FROM generate_series(0, 19) AS place),
                'students', (SELECT jsonb_agg(jsonb_build_object('id', md5('s' || place)::uuid, 'name', 'Student ' || place))
                             FROM generate_series(0, 29) AS place))),
           (SELECT jsonb_object_agg(line.student, line.cells)
            FROM (SELECT md5('s' || student)::uuid AS student,
                         jsonb_object_agg(md5('c' || place)::uuid, jsonb_build_object(
                             'value', ((600 + number - (student * 20 + place) * 343 %% 600) / 600 + student) %% 21 || '',
                             'source', 'teacher')) AS cells
                  FROM generate_series(0, 29) AS student, generate_series(0, 19) AS place
                  GROUP BY student) AS line)
    FROM generate_series(1, %(copies)s) AS number
"""


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Measure the backfill, then the drawer, then what an edit leaves behind."""
    bucket = _fill_copies()
    database.vacuum()
    yield from _measure_backfill(database)
    database.vacuum()
    yield paired(
        f"history drawer of the class with {BUCKET} copies, to loading and comparing them (seconds)",
        functools.partial(_read, bucket),
        functools.partial(_compare, bucket),
        reach=1 / 200,
        at_most=True,
    )
    yield from _measure_bytes()


def _fill_copies() -> UUID:
    """Write whole classes of copies; return the sheet of the last full one."""
    left, bucket = COPIES, UUID(int=0)
    with connection.cursor() as cursor:
        while left:
            sheet = factories.sheet()
            number = min(BUCKET, left)
            cursor.execute(FILL_COPIES, {"school": sheet.school_id, "sheet": sheet.pk, "copies": number})
            left -= number
            bucket = sheet.pk if number == BUCKET else bucket
    return bucket


def _measure_backfill(database: BenchDatabase) -> Iterator[Row]:
    def backfill() -> float:
        BackfilledMark.objects.all().delete()
        BackfillCheckpoint.objects.all().delete()
        database.checkpoint()
        return COPIES / timed(_backfill)

    def read() -> float:
        return COPIES / timed(lambda: _read_plainly(database))

    yield paired(
        f"backfill of {COPIES:,} copies of {CELLS} cells, to reading them with a server-side cursor (copies/s)",
        backfill,
        read,
        reach=0.3,
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    yield Row.of(
        "backfill, peak memory of its process, to 200 MiB (bytes)", peak, MOST_MEMORY, reach=1, at_most=True
    )


def _backfill() -> None:
    for sheet_id in list_unfilled_sheets():
        for _ in backfill_sheet(sheet_id):
            pass


def _read_plainly(database: BenchDatabase) -> None:
    with psycopg.connect(database.url) as session, session.cursor("plain") as cursor:
        cursor.itersize = 100
        cursor.execute("SELECT id, created_at, layout::text, cells::text FROM gradebook_marksnapshot")
        assert sum(1 for _ in cursor) == COPIES


def _read(sheet_id: UUID) -> float:
    return statistics.median(timed(lambda: _read_page(sheet_id)) for _ in range(READS))


def _read_page(sheet_id: UUID) -> None:
    assert len(list_sheet_history(sheet_id=sheet_id).lines) == PAGE_SIZE


def _compare(sheet_id: UUID) -> float:
    return timed(lambda: list_old_history(sheet_id=sheet_id, key=None, before=None, size=PAGE_SIZE))


def _measure_bytes() -> Iterator[Row]:
    """Edit single cells of a full class, and look at what the tables have grown by."""
    small, large = _Classroom(students=30, columns=20), _Classroom(students=60, columns=100)
    ours = small.edit(EDITS, KEPT_FOR_AN_EDIT)
    ours_large = large.edit(EDITS, KEPT_FOR_AN_EDIT)
    enter(Phase.BESIDE)
    MarkSnapshot.objects.bulk_create([small.a_copy(), large.a_copy()])  # so that both take part
    copies = small.edit(COPIED_EDITS, ("gradebook_marksnapshot",))
    copies_large = large.edit(COPIED_EDITS, ("gradebook_marksnapshot",))
    kept = "bytes kept for an edit of one cell (mark, event, position, history)"
    yield Row.of(f"{kept}, 30 by 20, to a copy of the class", ours, copies, reach=0.25, at_most=True)
    yield Row.of(
        f"{kept}, 60 by 100, to a copy of the class", ours_large, copies_large, reach=0.25, at_most=True
    )
    yield Row.of(f"{kept}, 60 by 100, to 30 by 20", ours_large, ours, reach=1.05, at_most=True)


class _Classroom:
    """A class whose every cell has a mark."""

    def __init__(self, *, students: int, columns: int) -> None:
        self._sheet: MarkSheet = factories.sheet()
        self._teacher = factories.teacher(self._sheet.school)
        factories.assignment(self._teacher, self._sheet.school_class, self._sheet.course, self._sheet.period)
        people: list[User] = [factories.student(self._sheet.school) for _ in range(students)]
        for person in people:
            factories.enrolment(person, self._sheet.school_class)
        heads: list[Column] = [factories.column(self._sheet, max_points=100) for _ in range(columns)]
        self._keys = [CellKey(column.pk, person.pk) for column in heads for person in people]
        self._versions = dict.fromkeys(self._keys, 0)
        self._edits = 0
        self._save(self._keys)

    def edit(self, edits: int, tables: tuple[str, ...]) -> float:
        """Save so many cells, one at a time, let the history read them, and return by how many bytes an edit these tables grew."""
        _catch_up()
        before = _size(tables)
        for _ in range(edits):
            self._save([self._keys[self._edits * 7 % len(self._keys)]])
        _catch_up()
        return (_size(tables) - before) / edits

    def a_copy(self) -> MarkSnapshot:
        """An empty copy from long ago."""
        return MarkSnapshot(
            school_id=self._sheet.school_id,
            sheet=self._sheet,
            action="saved",
            created_at="2024-09-02T08:00Z",
            layout={"columns": [], "students": []},
            cells={},
        )

    def _save(self, keys: list[CellKey]) -> None:
        self._edits += 1
        entry = Entry(value=Decimal(self._edits % 97))  # so that the next time round it is another one
        changes = [CellChange(key, self._versions[key], entry) for key in keys]
        saved = save_marks(sheet=self._sheet, changes=changes, by=self._teacher).saved
        assert len(saved) == len(keys)
        self._versions |= {view.key: view.version for view in saved}


def _catch_up() -> None:
    sequence_events()
    while run_batch(MarksheetHistory()).more:
        pass


def _size(tables: tuple[str, ...]) -> int:
    """Return the bytes of these tables with their indexes and what they store out of line; what updates left behind is cleared first."""
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"VACUUM {table}")
        cursor.execute(
            "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name",
            [list(tables)],
        )
        return int(cursor.fetchone()[0])


if __name__ == "__main__":
    run("cutover", measure)
