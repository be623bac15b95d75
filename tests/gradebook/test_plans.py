"""Every hot statement of the grid uses the index its header names, also when the table is large."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from gradebook.cells import CellKey
from gradebook.models import Column, Enrolment, Mark
from gradebook.queries import list_cells, list_students, take_snapshot
from gradebook.services.marks.rows import Place, cells_to_lock, cells_to_write, lock_cells
from gradebook.services.terms import TERMS
from outbox.db import load_sql
from tests import factories
from tests.gradebook.marks import NOON
from tests.multiplying import multiply
from tests.people import World

pytestmark = pytest.mark.django_db

SHEETS, STUDENTS = 20, 300


@pytest.fixture
def cells(world: World) -> list[dict[str, Any]]:
    """One column in each of many sheets of one class, all full; returns some cells of the world's own sheet."""
    student = "lpad(number::text, 32, '0')::uuid"  # in order, as the product makes them
    multiply(factories.student(world.school), STUDENTS, id=student, username="'student' || number")
    multiply(
        Enrolment(school_class=world.school_class, starts_on=NOON.date()),
        STUDENTS,
        id="uuidv7()",
        student_id=student,
    )
    others = [factories.sheet(world.school_class, period=world.period) for _ in range(SHEETS - 1)]
    for sheet in (world.sheet, *others):
        mark = _mark(factories.column(sheet))
        multiply(mark, STUDENTS, id="uuidv7()", student_id=student)
    column = Column(sheet=others[0], max_points=1)
    multiply(column, 1_000, id="uuidv7()", title="number::text")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    mine = Mark.objects.filter(sheet=world.sheet).order_by("student_id")[:30]
    return [dict(mark) for mark in mine.values("id", "sheet_id", "column_id", "student_id")]


def _mark(column: Column) -> Mark:
    return Mark(
        school_id=column.sheet.school_id,
        sheet=column.sheet,
        column=column,
        value=7,
        source="automatic",
        version=1,
        shown_version=1,
        updated_at=NOON,
    )


def _explain(statement: str, parameters: Any) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement}", parameters)
        return "\n".join(line for (line,) in cursor.fetchall())


def _asked(name: str, **parameters: Any) -> str:
    return _explain(load_sql("gradebook", name), parameters)


def _kept(name: str, parameters: Mapping[str, Any]) -> str:
    """Run a statement that calls a function, and return the plans of what is in it, as they are kept after some calls."""
    plans: list[str] = []
    with connection.cursor() as cursor:
        cursor.execute(
            "LOAD 'auto_explain'; SET LOCAL auto_explain.log_min_duration = 0;"
            "SET LOCAL auto_explain.log_nested_statements = on; SET LOCAL auto_explain.log_level = notice;"
            "SET LOCAL client_min_messages = notice; SET LOCAL plan_cache_mode = force_generic_plan"
        )
        connection.connection.add_notice_handler(lambda notice: plans.append(notice.message_primary))
        cursor.execute(load_sql("gradebook", name), parameters)
        cursor.execute("SET LOCAL auto_explain.log_min_duration = -1")
    return "\n".join(plans)


def _places(cells: list[dict[str, Any]]) -> list[Place]:
    return [
        Place(CellKey(cell["column_id"], cell["student_id"]), cell["sheet_id"], uuid4()) for cell in cells
    ]


def test_cells_are_locked_by_their_key_in_order(cells: list[dict[str, Any]]) -> None:
    plan = _kept("lock_cells", cells_to_lock(_places(cells)))
    assert "Index Scan using one_mark_per_cell" in plan
    assert "Seq Scan" not in plan
    assert plan.index("LockRows") < plan.index("Sort")  # locks are taken from what is already sorted


def test_cells_are_written_by_their_row_id(cells: list[dict[str, Any]]) -> None:
    plan = _kept("write_cells", cells_to_write(lock_cells(_places(cells)).values()))
    assert "Index Scan using gradebook_mark_pkey" in plan
    assert "Seq Scan on gradebook_mark mark" not in plan


def test_save_opens_a_sheet_without_reading_other_sheets_or_people(
    world: World, cells: list[dict[str, Any]]
) -> None:
    asked = {"namespace": TERMS, "term": world.period.pk, "sheet": world.sheet.pk, "by": uuid4()}
    plan = _kept("open_sheet", asked | {"students": [cell["student_id"] for cell in cells]})
    assert "Index Scan using gradebook_user_pkey on gradebook_user student" in plan
    assert "Seq Scan on gradebook_mark mark" not in plan


def test_changes_and_cells_of_a_sheet_are_read_by_the_sheet(
    world: World, cells: list[dict[str, Any]]
) -> None:
    plan = _asked("list_changed_cells", sheet=world.sheet.pk, since=take_snapshot())
    assert "on gradebook_mark mark" in plan
    assert "Seq Scan" not in plan
    assert len(list_cells(world.sheet)) == STUDENTS


def test_columns_are_shared_without_reading_those_of_other_sheets(
    world: World, cells: list[dict[str, Any]]
) -> None:
    plan = _kept("lock_columns", {"sheet": world.sheet.pk, "ids": [cells[0]["column_id"]]})
    assert "LockRows" in plan
    assert "Seq Scan" not in plan  # by their id or by their sheet: whichever the statistics make cheaper


def test_students_of_a_sheet_are_found_without_reading_everybody(
    world: World, cells: list[dict[str, Any]]
) -> None:
    plan = list_students(world.sheet).filter(pk__in=[uuid4()]).explain()
    assert "Seq Scan on gradebook_user" not in plan
