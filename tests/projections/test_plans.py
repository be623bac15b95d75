"""What a batch or a span of a long log costs follows its own size: no statement reads the rest of the log, or all of what is kept."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import pytest
from django.db import connection, transaction

from outbox.consumers.batches import run_batch
from outbox.consumers.consumer import FillableProjection
from outbox.consumers.rebuild import begin_rebuild
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer
from projections.analytics.projector import Analytics
from projections.history.projector import MarksheetHistory

pytestmark = pytest.mark.django_db(transaction=True)

HANDLERS: Final = (MarksheetHistory(), Analytics())
LOG: Final = ("outbox_event", "outbox_eventposition")
EVENTS, SPAN, BATCH = 20_000, 4_000, 100
BEFORE = 8_000  # the span and the batch come after so many
# Every payload has what all the kinds say, each event is of a subject of its own.
FILL = """
    INSERT INTO outbox_event (event_id, kind, subject, subject_version, actor_type, payload)
    SELECT gen_random_uuid(),
           (ARRAY['MarkChanged', 'MarkChanged', 'ColumnChanged', 'SubmissionGraded', 'ExamPublished'])[number %% 5 + 1],
           'of:' || number, 1, 'policy',
           jsonb_build_object(
               'school_id', id, 'sheet_id', id, 'column_id', id, 'student_id', id, 'attempt_id', id, 'exam_id', id,
               'column_title', 'Quiz', 'student_name', 'Ann', 'actor_name', 'Tom', 'reason', 'typed', 'title', 'Rivers',
               'state', 'graded', 'score', '1', 'max_points', '2', 'revision', 1, 'points', '["1"]'::jsonb,
               'out_of', '["2"]'::jsonb, 'new', jsonb_build_object('value', '1', 'title', 'Quiz', 'max_points', '2'))
    FROM (SELECT number, md5(number::text)::uuid AS id FROM generate_series(1, %(events)s) AS number) AS said
"""


@pytest.fixture(autouse=True)
def log() -> None:
    """A log of 20,000 events, taken into both projections, with statistics."""
    with connection.cursor() as cursor:
        cursor.execute(FILL, {"events": EVENTS})
    sequence_events()
    for handler in HANDLERS:
        begin_rebuild(handler)
        run_batch(handler, limit=EVENTS)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda each: each.name)
def test_filling_a_span_reads_the_events_of_the_span_alone(handler: FillableProjection) -> None:
    begin_rebuild(handler)
    Consumer.objects.filter(name=handler.name).update(position=BEFORE)

    read = count_rows_read(lambda: run_batch(handler, limit=SPAN))

    assert {table: read[table] for table in LOG} == dict.fromkeys(LOG, SPAN)


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda each: each.name)
def test_following_reads_the_events_of_the_batch_and_what_is_kept_of_their_subjects(
    handler: FillableProjection,
) -> None:
    Consumer.objects.filter(name=handler.name).update(position=BEFORE)

    read = count_rows_read(lambda: run_batch(handler, limit=BATCH))

    # Twice: an event that is looked up and is of another kind is said as a share of a row, rounded up.
    assert all(read[table] <= 2 * BATCH for table in (*LOG, *handler.tables))
    assert read.total() > BATCH


def count_rows_read(work: Callable[[], object]) -> Counter[str]:
    """Do the work and undo it; then explain what each of its statements did, and return the most rows one read of each table."""
    done: list[tuple[str, Any]] = []

    def note(execute: Any, statement: str, parameters: Any, *rest: Any) -> Any:
        done.append((statement, parameters))
        return execute(statement, parameters, *rest)

    with transaction.atomic(), connection.execute_wrapper(note):
        work()
        transaction.set_rollback(True)
    most: Counter[str] = Counter()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL jit = off")
        for statement, parameters in done:
            if LOG[0] in statement:
                cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters)
                most |= _count_rows(cursor.fetchone()[0][0]["Plan"])
    return most


def _count_rows(node: dict[str, Any]) -> Counter[str]:
    """Add up what the nodes of a plan took from each table, kept or not."""
    read: Counter[str] = Counter()
    if "Relation Name" in node and "Operation" not in node:
        rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
        read[node["Relation Name"]] = round(rows * node["Actual Loops"])
    return sum(map(_count_rows, node.get("Plans", [])), read)
