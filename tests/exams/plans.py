"""Which indexes a statement reads by, in tables that are full enough (`tests.exams.crowd`) to need one."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.db import connection, transaction

from outbox.db import load_sql

SMALL = {
    "gradebook_school",
    "gradebook_enrolment",
    "gradebook_column",
    "exams_exam",
    "exams_examtarget",
    "exams_examrevision",
}


def explain(name: str, parameters: Mapping[str, Any]) -> set[str]:
    """Return the indexes that `exams/sql/<name>.sql` reads by; a large table read whole fails the test."""
    return explain_statement(load_sql("exams", name), parameters)


def explain_statement(statement: str, parameters: Any) -> set[str]:
    """Return the indexes that a statement reads by; a large table read whole fails the test."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", parameters)
        plan = cursor.fetchone()[0]
    nodes = list(_walk(json.loads(plan)[0]["Plan"] if isinstance(plan, str) else plan[0]["Plan"]))
    large = [node for node in nodes if node.get("Relation Name") not in SMALL]
    assert not [node for node in large if node["Node Type"] == "Seq Scan"], json.dumps(plan, indent=1)
    return {node["Index Name"] for node in large if "Index Name" in node}


def _walk(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _walk(child)
