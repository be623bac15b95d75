"""The one hot statement reads by index, whatever the tables looked like when its plan was made."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from exams.gate.session import Session
from tests import factories
from tests.exams.crowd import gather
from tests.exams.gate.sessions import MakeHandIn, make_handin, session  # noqa: F401 - fixtures

READS_NO_TABLE_WHOLE = {
    *("Index Scan", "Nested Loop", "Limit", "LockRows", "Subquery Scan"),
    *("Function Scan", "CTE Scan", "ModifyTable"),
}
PLAN = """
    EXPLAIN (FORMAT JSON) EXECUTE {} ('{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '')
"""


def test_accept_submissions_reads_by_index_though_planned_over_empty_tables(
    session: Session,
    make_handin: MakeHandIn,
) -> None:
    attempt = factories.attempt()
    session.accept([make_handin(attempt)])  # the plan is made here, for good
    gather(attempt)

    nodes = list(_walk(_explain(session)))

    looked_up = [node for node in nodes if "Index Name" in node]
    assert {node["Index Name"] for node in looked_up} == {
        "exams_attempt_pkey",
        "exams_examrevision_pkey",
        "one_submission_per_attempt",
    }
    assert [node for node in looked_up if "Index Cond" not in node] == []  # an index can be read whole, too
    assert {node["Node Type"] for node in nodes} <= READS_NO_TABLE_WHOLE


def _explain(session: Session) -> Any:
    """Return the generic plan the session keeps for its statement."""
    assert session._connection is not None
    found = session._connection.execute(
        "SELECT name FROM pg_prepared_statements WHERE statement LIKE '-- Decide a group of hand-ins%'"
    ).fetchall()
    [(name,)] = found
    row = session._connection.execute(PLAN.format(name).encode()).fetchone()
    assert row is not None
    return (json.loads(row[0]) if isinstance(row[0], str) else row[0])[0]["Plan"]


def _walk(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _walk(child)
