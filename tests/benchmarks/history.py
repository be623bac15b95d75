"""Reading and rebuilding the mark history: a page costs the same however much history there is, and a rebuild about what
the bare insert of its rows costs.
"""

import functools
import statistics
from collections.abc import Iterator
from uuid import UUID

from django.db import connection

from outbox.consumers.rebuild import rebuild
from outbox.log.sequencer import sequence_events
from outbox.stopping import Stop
from projections.history.projector import HISTORY_TABLE, MarksheetHistory
from projections.history.queries import PAGE_SIZE, list_sheet_history
from tests.benchmarks import log
from tests.benchmarks.harness import BenchDatabase, paired, run, timed
from tests.benchmarks.results import Row

CLASSES = {
    1_000: UUID(int=1),
    100_000: UUID(int=2),
    1_000_000: UUID(int=3),
}  # events in the class -> its sheet
READS = 300
REBUILT = 200_000
# 30 students in 20 columns, changed in turn; every third change is of another class than the one before.
FILL_HISTORY = f"""
    INSERT INTO {HISTORY_TABLE}
        (event_id, pos, school_id, sheet_id, column_id, student_id, cell_version, column_title, student_name,
         old_value, old_code, old_source, new_value, new_code, new_source, automatic_value,
         reason, actor_type, actor_id, actor_name, batch_id, occurred_at)
    SELECT gen_random_uuid(), 3 * number + %(offset)s, %(sheet)s, %(sheet)s,
           md5((number %% 20)::text)::uuid, md5((number %% 30)::text)::uuid, number, 'Quiz 1', 'Ann Other',
           5, '', 'teacher', 6, '', 'teacher', NULL,
           'typed', 'person', %(sheet)s, 'Tom Teacher', NULL, now()
    FROM generate_series(1, %(events)s) AS number
"""


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Measure the rebuild, then the drawer at three sizes of class."""
    yield _measure_rebuild(database)
    _fill_history(database)
    for events in (100_000, 1_000_000):
        yield paired(
            f"history drawer, newest {PAGE_SIZE}, {events:,} events in the class, to 1,000 events (seconds)",
            functools.partial(_read, CLASSES[events]),
            functools.partial(_read, CLASSES[1_000]),
            reach=1.5,
            at_most=True,
            repeats=5,
        )


def _measure_rebuild(database: BenchDatabase) -> Row:
    """Compare a rebuild with copying the rows it makes into a table with the same indexes."""
    with connection.cursor() as cursor:
        cursor.execute(log.FILL, {"events": REBUILT})
        cursor.execute(f"CREATE TABLE copied_history (LIKE {HISTORY_TABLE} INCLUDING ALL)")
    sequence_events()
    database.vacuum()

    def rebuild_history() -> float:
        database.checkpoint()
        return REBUILT / timed(lambda: rebuild(MarksheetHistory(), Stop(), report=lambda *_: None))

    def copy_history() -> float:
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE copied_history")
            database.checkpoint()
            seconds = timed(
                lambda: cursor.execute(f"INSERT INTO copied_history SELECT * FROM {HISTORY_TABLE}")
            )
            assert cursor.rowcount == REBUILT
        return REBUILT / seconds

    return paired(
        f"history rebuild, {REBUILT:,} events, to INSERT … SELECT of the same rows with the same indexes (events/s)",
        rebuild_history,
        copy_history,
        reach=0.5,
        repeats=5,
    )


def _fill_history(database: BenchDatabase) -> None:
    with connection.cursor() as cursor:
        for offset, (events, sheet) in enumerate(CLASSES.items()):
            cursor.execute(FILL_HISTORY, {"events": events, "sheet": sheet, "offset": offset})
    database.vacuum(HISTORY_TABLE)
    database.checkpoint()


def _read(sheet_id: UUID) -> float:
    """Return the median time of reading the newest page, in seconds."""
    return statistics.median(timed(lambda: _read_page(sheet_id)) for _ in range(READS))


def _read_page(sheet_id: UUID) -> None:
    assert len(list_sheet_history(sheet_id=sheet_id).lines) == PAGE_SIZE


if __name__ == "__main__":
    run("history", measure)
