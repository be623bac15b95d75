"""Replaying a long log into the history and into the figures, against the bare insert of as many rows.

The log has two shapes: a year's, in which the same cells are changed again and again, and one in which every change is of a new cell, so that
the figures keep as many rows as there are events.
"""

import os
from collections.abc import Iterator

from django.db import connection

from outbox.consumers.consumer import Projection
from outbox.consumers.rebuild import rebuild
from outbox.log.sequencer import sequence_events
from outbox.stopping import Stop
from projections.analytics.projector import Analytics
from projections.history.projector import HISTORY_TABLE, MarksheetHistory
from projections.models import AnalyticsMark
from tests.benchmarks.harness import BenchDatabase, Measurement, paired, run, timed
from tests.benchmarks.results import Row

EVENTS = int(os.environ.get("BENCH_EVENTS", "1_000_000"))
CELLS = 30_000  # fifty classes of 30 students in 20 columns
FIGURES_TABLE = AnalyticsMark._meta.db_table
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
# One row of the figures for each event, made before: only rows and indexes are compared with ours.
ROWS = """
    CREATE TABLE rows_to_copy AS
    SELECT md5('column' || number)::uuid AS column_id, md5('student' || number)::uuid AS student_id, number AS pos,
           5.5::numeric(9, 3) AS value, ''::varchar(10) AS code
    FROM generate_series(1, %(events)s) AS number
"""
COPY_FIGURES = """
    INSERT INTO copied_figures (column_id, student_id, pos, value, code)
    SELECT column_id, student_id, pos, value, code FROM rows_to_copy
"""
COPY_HISTORY = f"INSERT INTO copied_history SELECT * FROM {HISTORY_TABLE}"


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Measure a rebuild of both projections from changes of the same cells, and of the figures from changes of ever new ones."""
    with connection.cursor() as cursor:
        cursor.execute(ROWS, {"events": EVENTS})
        cursor.execute(f"CREATE TABLE copied_figures (LIKE {FIGURES_TABLE} INCLUDING ALL)")
        cursor.execute(f"CREATE TABLE copied_history (LIKE {HISTORY_TABLE} INCLUDING ALL)")
    _fill_log(database, cells=CELLS)
    yield paired(
        f"replay of {EVENTS:,} events into history, to INSERT … SELECT of the same rows (events/s)",
        _replay(database, MarksheetHistory(), HISTORY_TABLE, rows=EVENTS),
        _copy(database, "copied_history", COPY_HISTORY),
        reach=0.4,
    )
    yield _measure_figures(database, f"of {CELLS:,} cells", rows=min(EVENTS, CELLS))
    _fill_log(database, cells=EVENTS)
    yield _measure_figures(database, "each of a new cell", rows=EVENTS)


def _measure_figures(database: BenchDatabase, shape: str, *, rows: int) -> Row:
    return paired(
        f"replay of {EVENTS:,} events, {shape}, into analytics, to INSERT … SELECT of as many rows (events/s)",
        _replay(database, Analytics(), FIGURES_TABLE, rows=rows),
        _copy(database, "copied_figures", COPY_FIGURES),
        reach=0.2,
    )


def _fill_log(database: BenchDatabase, *, cells: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE outbox_event, outbox_eventposition, outbox_tick")
        cursor.execute(FILL, {"events": EVENTS, "cells": cells})
    sequence_events()
    database.vacuum()


def _replay(database: BenchDatabase, projection: Projection, table: str, *, rows: int) -> Measurement:
    """Return what rebuilds the projection, checks that its table has so many rows then, and returns events a second."""

    def replay() -> float:
        database.checkpoint()
        with Stop() as stop:
            seconds = timed(lambda: rebuild(projection, stop, report=lambda *_: None))
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {table}")
            assert cursor.fetchone() == (rows,)
        return EVENTS / seconds

    return replay


def _copy(database: BenchDatabase, table: str, statement: str) -> Measurement:
    """Return what copies a row for each event into the emptied table and returns rows a second."""

    def copy() -> float:
        with connection.cursor() as cursor:
            cursor.execute(f"TRUNCATE {table}")
            database.checkpoint()
            seconds = timed(lambda: cursor.execute(statement))
            assert cursor.rowcount == EVENTS
        return EVENTS / seconds

    return copy


if __name__ == "__main__":
    run("replay", measure)
