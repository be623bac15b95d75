"""How PostgreSQL finds receipts: by what is open, however many are done."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from outbox.db import load_sql

pytestmark = pytest.mark.django_db
FILL = """
    INSERT INTO outbox_effectreceipt (event_id, effect, target, pos, state, ended_at, lease_id, due_at, resend_at)
    SELECT gen_random_uuid(), 'tell', '', number,
           CASE WHEN number %% 20 = 0 THEN 'pending' WHEN number %% 1000 = 1 THEN 'trying'
                WHEN number %% 1000 = 2 THEN 'failed'
                WHEN number %% 1000 = 3 THEN 'refused' ELSE 'done' END,
           CASE WHEN number %% 20 = 0 OR number %% 1000 = 1 THEN NULL ELSE now() END,
           gen_random_uuid(), now() - interval '1 hour' + number * interval '1 ms', now() - interval '1 hour'
    FROM generate_series(1, 20000) AS number
"""
CASES: list[tuple[str, dict[str, Any], str]] = [
    (
        "claim_pending_effects",
        {"effects": ["tell"], "lease_id": uuid4(), "lease": 60.0, "at_most": 50},
        "effects_pending_idx",
    ),
    ("claim_lost_effect", {"effects": ["tell"], "lease_id": uuid4(), "lease": 60.0}, "effects_trying_idx"),
    (
        "claim_effect",
        {"event_id": uuid4(), "effect": "tell", "target": "", "lease_id": uuid4(), "lease": 60.0},
        "one_receipt_per_effect",
    ),
    ("take_overdue_effects", {"effects": ["tell"], "seconds": 60.0, "at_most": 500}, "effects_resend_idx"),
    ("count_open_effects", {}, "effects_resend_idx"),
    ("count_open_effects", {}, "effects_failed_idx"),
    ("count_open_effects", {}, "effects_refused_idx"),
    ("lock_held_effects", {"ids": [1, 2, 3], "lease_id": uuid4()}, "outbox_effectreceipt_pkey"),
]


@pytest.fixture
def many_receipts(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(FILL, {})
        cursor.execute("ANALYZE outbox_effectreceipt")


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for inner in node.get("Plans", []):
        yield from walk(inner)


@pytest.mark.parametrize(
    ("statement", "parameters", "index"), CASES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_receipts_are_found_by_index(
    many_receipts: None, statement: str, parameters: dict[str, Any], index: str
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {load_sql('outbox', statement)}", parameters)
        (answer,) = cursor.fetchone()
    plan = answer if isinstance(answer, list) else json.loads(answer)
    nodes = list(walk(plan[0]["Plan"]))
    assert index in {node.get("Index Name") for node in nodes}
    assert [
        node for node in nodes if node["Node Type"] == "Seq Scan" and "receipt" in node["Relation Name"]
    ] == []
