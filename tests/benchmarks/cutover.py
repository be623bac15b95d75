"""What the way out of the copies costs and what it buys: the walk through them, and the drawer of the class with 862."""

import functools
import resource
import statistics
from collections.abc import Iterator
from uuid import UUID

import psycopg
from django.db import connection

from projections.backfill.old_history import list_old_history
from projections.backfill.walking import backfill_sheet, list_unfilled_sheets
from projections.history.queries import PAGE_SIZE, list_sheet_history
from projections.models import BackfillCheckpoint, BackfilledMark
from tests import factories
from tests.benchmarks.harness import BenchDatabase, paired, run, timed
from tests.benchmarks.results import Row

COPIES, BUCKET, CELLS = 20_000, 862, 600
MOST_MEMORY = 200 * 2**20
READS = 100
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
    """Measure the backfill, then the drawer."""
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


if __name__ == "__main__":
    run("cutover", measure)
