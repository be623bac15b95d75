"""Every hot statement of the log reads by the index it names, on a log of some size."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from outbox.db import load_sql
from outbox.models import Consumer, ParkedSubject

pytestmark = pytest.mark.django_db
EVENTS = 20_000
FILL = """
    INSERT INTO outbox_event (event_id, kind, subject, subject_version, actor_type, payload)
    SELECT gen_random_uuid(), 'ThingNoted', 'thing:' || number, 1, 'policy', '{}'
    FROM generate_series(1, %(events)s) AS number;
    INSERT INTO outbox_eventposition (pos, seq, digest)
    SELECT row_number() OVER (ORDER BY seq), seq, sha256('') FROM outbox_event;
    INSERT INTO outbox_tick (tick_id, first_pos, last_pos, snapshot_xmax, snapshot_xip, digest)
    SELECT number, number, number, '3', '{}', sha256('') FROM generate_series(1, %(events)s) AS number;
    ANALYZE outbox_event, outbox_eventposition, outbox_tick;
"""
LOG_TABLES = {"outbox_event", "outbox_eventposition", "outbox_tick"}
POSITION, SEQ_OF_POSITION = "outbox_eventposition_pkey", "outbox_eventposition_seq_key"
EVENT, TICK, TICK_BY_POSITION = "outbox_event_pkey", "outbox_tick_pkey", "ticks_last_pos_idx"


@pytest.fixture(autouse=True)
def log() -> None:
    """A log of 20,000 events, with statistics, and a consumer with something parked."""
    with connection.cursor() as cursor:
        cursor.execute(FILL, {"events": EVENTS})
    consumer = Consumer.objects.create(name="things_noted", staleness_budget="1 second", position=EVENTS // 2)
    ParkedSubject.objects.create(consumer=consumer, subject="thing:1", error="no", tries=3)


def explain(statement: str, parameters: dict[str, Any]) -> tuple[set[str], set[str]]:
    """Return (indexes used, log tables read whole) of a statement's plan."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL jit = off")
        cursor.execute(f"EXPLAIN (FORMAT JSON) {load_sql('outbox', statement)}", parameters)
        (plan,) = cursor.fetchone()
    nodes = list(_walk(plan[0]["Plan"]))
    return (
        {node["Index Name"] for node in nodes if "Index Name" in node},
        {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"} & LOG_TABLES,
    )


def _walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _walk(child)


RANGE = {"name": "things_noted", "kinds": ["ThingNoted"], "after": 10_000, "upto": 10_500}
LAST_TICK = {
    "tick_id": 1,
    "epoch": 0,
    "shard": 0,
    "last_pos": 1,
    "seq_floor": 0,
    "digest": b"",
    "xip": ["4", "5"],
}


@pytest.mark.parametrize(
    ("statement", "parameters", "indexes"),
    [
        ("number_events", {**LAST_TICK, "xmax": "900000000"}, {"events_xid_idx"}),
        ("get_last_tick", {}, {TICK}),
        ("get_head", {}, {TICK}),
        ("read_events", {"after": 10_000, "limit": 500}, {POSITION, EVENT}),
        ("list_events_at", {"positions": list(range(10_000, 10_500)), "first": 10_000, "last": 10_499}, {POSITION, EVENT}),
        ("find_entry", {"event_id": "00000000-0000-0000-0000-000000000000"}, {SEQ_OF_POSITION, TICK_BY_POSITION, "outbox_event_event_id_key"}),
        ("look_at_consumer", {"name": "things_noted"}, {TICK}),
        ("list_batch_positions", RANGE, {POSITION, EVENT}),
        ("park_waiting_events", RANGE, {"one_event_per_subject_version", SEQ_OF_POSITION}),
        ("list_twin_positions", RANGE, {POSITION, EVENT}),
        ("list_consumer_statuses", {"names": ["things_noted"]}, {TICK, TICK_BY_POSITION, POSITION, EVENT, "events_xid_idx"}),
        ("list_ticks", {"after": 100, "positions": 500}, {TICK}),
        ("find_false_event", {"first": 10_000, "last": 10_500}, {POSITION, EVENT}),
        ("find_false_tick", {"first": 10_000, "last": 10_100}, {TICK, POSITION}),
        ("count_positions", {"from_tick": 100}, {TICK}),
    ],
)  # fmt: skip
def test_statement_reads_the_log_by_its_indexes(
    statement: str, parameters: dict[str, Any], indexes: set[str]
) -> None:
    used, whole = explain(statement, parameters)

    assert used & _list_log_indexes() == indexes
    assert whole == set()


def _list_log_indexes() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE tablename = ANY (%s)", [list(LOG_TABLES)])
        return {name for (name,) in cursor.fetchall()}


@pytest.mark.parametrize("statement", ["find_unnumbered_event", "start_epoch"])
def test_statement_that_must_read_the_whole_log_reads_it_once(statement: str) -> None:
    _, whole = explain(statement, {"tick_id": 1, "epoch": 0, "shard": 0, "last_pos": 1, "digest": b""})

    assert "outbox_event" in whole
