"""How fast waiting events get their positions, against the bare insert of as many position rows."""

from collections.abc import Iterator

from django.db import connection

from outbox.log.sequencer import sequence_events
from tests.benchmarks.harness import BenchDatabase, paired, run, timed
from tests.benchmarks.results import Row

EVENTS = 200_000
FILL = """
    INSERT INTO outbox_event (event_id, tenant_id, kind, subject, subject_version, actor_type, actor_id, payload)
    SELECT gen_random_uuid(), gen_random_uuid(), 'MarkChanged', format('cell:%%s:%%s', gen_random_uuid(), number), 1,
           'person', gen_random_uuid(),
           jsonb_build_object(
               'school_id', gen_random_uuid(), 'sheet_id', gen_random_uuid(), 'column_id', gen_random_uuid(),
               'student_id', gen_random_uuid(), 'column_title', 'Quiz 1', 'student_name', 'Ann Other',
               'actor_name', 'Tom Teacher', 'old', NULL, 'automatic_value', NULL, 'reason', 'typed',
               'new', jsonb_build_object('value', '5.5', 'code', '', 'source', 'typed'))
    FROM generate_series(1, %(events)s) AS number
"""
# A digest of the same length, already computed: only rows and indexes are compared with ours.
PLAIN_INSERT = """
    INSERT INTO outbox_eventposition (pos, seq, digest)
    SELECT row_number() OVER (ORDER BY event.seq), event.seq, sha256('digest')
    FROM outbox_event AS event
    ORDER BY event.seq
"""


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Compare numbering 200,000 waiting events in one pass with INSERT … SELECT of 200,000 positions."""

    def fill() -> None:
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE outbox_event, outbox_eventposition, outbox_tick")
            cursor.execute(FILL, {"events": EVENTS})
        database.vacuum("outbox_event")
        database.checkpoint()

    def sequence() -> float:
        fill()
        seconds = timed(sequence_events)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*), max(pos) FROM outbox_eventposition")
            assert cursor.fetchone() == (EVENTS, EVENTS)
        return EVENTS / seconds

    def insert() -> float:
        fill()
        with connection.cursor() as cursor:
            return EVENTS / timed(lambda: cursor.execute(PLAIN_INSERT))

    yield paired(
        "sequencing 200,000 waiting events, to plain INSERT … SELECT of as many positions",
        sequence,
        insert,
        reach=0.2,
        repeats=5,
    )


if __name__ == "__main__":
    run("log", measure)
