"""Filling the queue's tables by the thousand, and reading what a statement of the queue touches."""

import datetime as dt
import json
import uuid
from collections.abc import Iterator
from typing import Any

from django.db import connection, transaction

from outbox.db import load_sql
from outbox.queue.claim import claim_parameters, list_ready_streams
from outbox.queue.streams import Stream
from tests.outbox.queue.workshop import (
    EXAM,
    KIND,
    LEASE,
    TENANT,
    get_start,
)

EXAMS = [EXAM, *(uuid.UUID(int=1000 + number) for number in range(9))]
A_LEVEL_MORE = (
    6 * 50
)  # pages: a claim of 50 looks up or enters each job in six places, and indexes may have grown by a level
WAITING = """
    INSERT INTO outbox_job (tenant_id, group_id, job_id, kind, subject_id, run_at)
    SELECT %(tenant)s, (%(exams)s::uuid[])[1 + number %% cardinality(%(exams)s::uuid[])], gen_random_uuid(), %(kind)s,
           gen_random_uuid(), %(since)s::timestamptz + number * interval '1 microsecond'
    FROM generate_series(1, %(count)s) AS number
"""
FINISHED = """
    INSERT INTO outbox_finishedjob (tenant_id, group_id, job_id, kind, subject_id, tries)
    SELECT %(tenant)s, %(exam)s, gen_random_uuid(), %(kind)s, gen_random_uuid(), 1
    FROM generate_series(1, %(count)s) AS number
"""


def insert(statement: str, count: int, *, since: dt.datetime | None = None) -> None:
    """Put many rows into a table, those of ten exams by turns; the planner does not know."""
    values: dict[str, Any] = {
        "tenant": TENANT,
        "exam": EXAM,
        "exams": EXAMS,
        "kind": KIND,
        "since": since or get_start(),
        "count": count,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def fill(statement: str, count: int) -> None:
    """Put many rows into a table, and let the planner know."""
    insert(statement, count)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE outbox_job, outbox_finishedjob")


def explain(statement: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Run a named statement in a transaction that is rolled back, and return its plan with what it touched."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "
            + load_sql("outbox", statement).rstrip(" ;\n"),
            parameters,
        )
        (plan,) = cursor.fetchone()
        transaction.set_rollback(True)
    found = json.loads(plan) if isinstance(plan, str) else plan
    return dict(found[0]["Plan"])


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from walk(child)


def indexes_of(plan: dict[str, Any]) -> set[str]:
    return {node["Index Name"] for node in walk(plan) if "Index Name" in node}


def tables_read_whole(plan: dict[str, Any]) -> list[str]:
    return [node["Relation Name"] for node in walk(plan) if node["Node Type"] == "Seq Scan"]


def count_pages(plan: dict[str, Any]) -> int:
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def count_pages_of_search(plan: dict[str, Any]) -> int:
    """Return what finding the next ready rows touched, without locking and updating them."""
    (search,) = (node for node in walk(plan) if node.get("Index Name") == "jobs_ready_idx")
    return count_pages(search)


def parameters_of(*streams: Stream, share: int = 50) -> dict[str, Any]:
    return claim_parameters(kind=KIND, streams=streams, share=share, lease=LEASE, by=None)


def explain_claim() -> dict[str, Any]:
    """Explain a claim of 50, five from each of ten exams."""
    streams = list_ready_streams()
    assert len(streams) == len(EXAMS)
    return explain("claim_jobs", parameters_of(*streams, share=5))
