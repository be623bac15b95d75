"""History is read newest first, a page at a time, from one index range and nothing else."""

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from projections.history.queries import HistoryPage, list_cell_history, list_sheet_history
from projections.models import MarkHistory
from tests.multiplying import multiply
from tests.projections.changes import Cell, project, record

pytestmark = pytest.mark.django_db(transaction=True)


def test_sheet_history_pages_newest_first_without_gap_or_repeat() -> None:
    cell = Cell()
    project(record(*(cell.change(str(number)) for number in range(7))))
    first = list_sheet_history(sheet_id=cell.sheet_id, size=3)
    project(record(cell.change("99")))  # somebody types while somebody else pages
    second = list_sheet_history(sheet_id=cell.sheet_id, size=3, before=first.older_before)
    third = list_sheet_history(sheet_id=cell.sheet_id, size=3, before=second.older_before)
    values = [[int(line.new_value or 0) for line in page.lines] for page in (first, second, third)]
    assert values == [[6, 5, 4], [3, 2, 1], [0]]
    assert third.older_before is None


def test_cell_history_shows_that_cell_in_that_sheet_only() -> None:
    cell = Cell()
    neighbour = Cell(sheet_id=cell.sheet_id, column_id=cell.column_id)
    project(record(cell.change("1"), neighbour.change("2"), cell.change("3")))
    assert [line.new_value for line in _read_cell(cell).lines] == [3, 1]
    assert _read_cell(dataclasses.replace(cell, sheet_id=uuid4())).lines == []


@pytest.mark.parametrize("count", [1, 3])
def test_history_page_is_one_query(count: int) -> None:
    cell = Cell()
    project(record(*(cell.change(str(number)) for number in range(count))))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        list_sheet_history(sheet_id=cell.sheet_id)
    assert len(queries) == 1


def _read_cell(cell: Cell, before: int | None = None) -> HistoryPage:
    return list_cell_history(
        sheet_id=cell.sheet_id, column_id=cell.column_id, student_id=cell.student_id, before=before
    )


@pytest.fixture
def big_cell() -> Cell:
    """One of 50 cells in a sheet with 20,000 changes, in a table where planning an index is worth it."""
    cell = Cell()
    multiply(
        MarkHistory(
            school_id=cell.sheet_id,
            sheet_id=cell.sheet_id,
            column_id=cell.column_id,
            student_id=cell.student_id,
            cell_version=1,
            occurred_at=datetime(2026, 5, 4, tzinfo=UTC),
        ),
        20_000,
        pos="number",
        event_id="gen_random_uuid()",
        student_id=f"CASE number % 50 WHEN 0 THEN '{cell.student_id}'::uuid ELSE md5((number % 50)::text)::uuid END",
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE projections_markhistory")
    return cell


def _plan_of(read: Callable[[], Any]) -> str:
    with CaptureQueriesContext(connection) as queries:
        read()
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + queries[0]["sql"])
        return "\n".join(row[0] for row in cursor.fetchall())


def test_sheet_history_page_is_a_range_of_its_index(big_cell: Cell) -> None:
    plan = _plan_of(lambda: list_sheet_history(sheet_id=big_cell.sheet_id, before=9_000))
    assert "Index Scan Backward using history_sheet_idx" in plan
    assert "->  Sort" not in plan


def test_cell_history_page_is_a_range_of_its_index(big_cell: Cell) -> None:
    plan = _plan_of(lambda: _read_cell(big_cell, before=9_000))
    assert "Index Scan using history_cell_idx" in plan
    assert "->  Sort" not in plan
