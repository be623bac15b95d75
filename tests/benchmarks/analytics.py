"""Replaying the log into the figures, against the bare insert of a row for each event."""

import os
from collections.abc import Iterator

from django.db import connection

from outbox.rebuild import rebuild
from outbox.sequencer import sequence_events
from outbox.stopping import Stop
from projections.analytics.projector import Analytics
from projections.models import AnalyticsMark
from tests.benchmarks.harness import BenchDatabase, paired, run, timed
from tests.benchmarks.results import Row

EVENTS = int(os.environ.get("BENCH_EVENTS", "1_000_000"))
CELLS = 30_000  # fifty classes of 30 students in 20 columns; every cell is changed again and again
FILL = """
    INSERT INTO outbox_event (event_id, tenant_id, kind, subject, subject_version, actor_type, actor_id, payload)
    SELECT gen_random_uuid(), md5('school')::uuid, 'MarkChanged', format('cell:%%s:%%s', cell.column_id, cell.student_id),
           event.number / %(cells)s + 1, 'person', md5('teacher')::uuid,
           jsonb_build_object(
               'school_id', md5('school')::uuid, 'sheet_id', md5((cell.number / 600)::text)::uuid,
               'column_id', cell.column_id, 'student_id', cell.student_id, 'column_title', 'Quiz 1',
               'student_name', 'Ann Other', 'actor_name', 'Tom Teacher', 'old', NULL, 'automatic_value', NULL,
               'reason', 'typed',
               'new', jsonb_build_object('value', (random() * 20)::integer / 2.0, 'code', '', 'source', 'teacher'))
    FROM generate_series(0, %(events)s - 1) AS event (number)
    CROSS JOIN LATERAL (
        SELECT place.number, md5('column' || place.number / 30)::uuid AS column_id,
               md5('student' || (place.number / 600 * 30 + place.number %% 30))::uuid AS student_id
        FROM (VALUES (event.number %% %(cells)s)) AS place (number)) AS cell
"""
ROWS = """
    CREATE TABLE rows_to_copy AS
    SELECT md5('column' || number)::uuid AS column_id, md5('student' || number)::uuid AS student_id, number AS pos,
           5.5::numeric(9, 3) AS value, ''::varchar(10) AS code
    FROM generate_series(1, %(events)s) AS number
"""


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Measure a rebuild of the figures from a log of changed marks."""
    table = AnalyticsMark._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(FILL, {"events": EVENTS, "cells": CELLS})
        cursor.execute(ROWS, {"events": EVENTS})
        cursor.execute(f"CREATE TABLE copied_rows (LIKE {table} INCLUDING ALL)")
    sequence_events()
    database.vacuum()

    def replay() -> float:
        database.checkpoint()
        with Stop() as stop:
            rate = EVENTS / timed(lambda: rebuild(Analytics(), stop, report=lambda *_: None))
        assert AnalyticsMark.objects.count() == min(EVENTS, CELLS)
        return rate

    def copy() -> float:
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE copied_rows")
            database.checkpoint()
            return EVENTS / timed(
                lambda: cursor.execute(
                    "INSERT INTO copied_rows (column_id, student_id, pos, value, code)"
                    " SELECT column_id, student_id, pos, value, code FROM rows_to_copy"
                )
            )

    yield paired(
        f"analytics rebuild, {EVENTS:,} events, to INSERT … SELECT of as many rows (events/s)",
        replay,
        copy,
        reach=0.2,
    )


if __name__ == "__main__":
    run("analytics", measure)
