"""The sheet as it was is what the changes up to then say, no more is read than has to be, and only those see it who may see the sheet."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from gradebook.models import User
from outbox.models import Consumer
from projections.asof.moments import Asked, read_moment
from projections.asof.queries import (
    AFTER_ALL,
    BEFORE_ALL,
    BatchOfChanges,
    find_position_at,
    list_cells_as_of,
    list_differences_between,
    list_recent_batches,
)
from projections.history.projector import MarksheetHistory
from projections.models import BackfilledMark, MarkHistory
from tests.multiplying import multiply
from tests.people import World
from tests.projections.changes import Cell, project, record

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cell(world: World, student: User) -> Cell:
    """A cell of the teacher's own sheet."""
    return Cell(sheet_id=world.sheet.pk, student_id=student.pk)


def url(cell: Cell) -> str:
    return reverse("asof:sheet", kwargs={"sheet_id": cell.sheet_id})


def signed_in(person: User | None) -> Client:
    client = Client()
    if person is not None:
        client.force_login(person)
    return client


def shown(cell: Cell, pos: int) -> list[Decimal | None]:
    return [line.new_value for line in list_cells_as_of(pos, sheet_id=cell.sheet_id)]


@pytest.mark.parametrize(
    ("person", "status"),
    [("teacher", 200), ("admin", 200), ("other_teacher", 404), ("student", 404), ("nobody", 302)],
)
def test_sheet_as_it_was_is_shown_to_those_who_may_see_the_sheet(
    person: str, status: int, cell: Cell, request: pytest.FixtureRequest
) -> None:
    project(record(cell.change("5")))
    client = signed_in(request.getfixturevalue(person))
    answers = [client.get(url(cell), query) for query in ({}, {"at": "1"}, {"from": "0"})]
    assert [answer.status_code for answer in answers] == [status] * 3
    assert [b"Ada Lovelace" in answer.content for answer in answers] == [status == 200] * 3


def test_sheet_is_shown_as_of_a_position_and_as_of_a_moment(teacher: User, cell: Cell) -> None:
    project(record(cell.change("5"), cell.change("7.5"), cell.change(code="absent")))
    moments = list(MarkHistory.objects.order_by("pos").values_list("occurred_at", flat=True))
    client = signed_in(teacher)
    cells = {
        query: [
            line.new
            for _, lines in client.get(url(cell), {"at": query}).context["grid"].rows
            for line in lines
        ]
        for query in ("0", "1", "0.0.2", "3", moments[1].isoformat(), "2020-01-01T00:00", "2100-01-01T00:00")
    }
    assert list(cells.values()) == [[], ["5"], ["7.5"], ["absent"], ["7.5"], [], ["absent"]]


def test_differences_name_what_was_what_is_who_and_why(teacher: User, cell: Cell) -> None:
    other = Cell(sheet_id=cell.sheet_id, column_id=cell.column_id)
    back = Cell(sheet_id=cell.sheet_id, column_id=cell.column_id)
    project(record(cell.change("5"), back.change("1"), other.change("3")))
    project(record(cell.change("6"), back.change("2"), back.change("1"), cell.change("7", reason="imported")))
    answer = signed_in(teacher).get(url(cell), {"from": "3"})
    (line,) = answer.context["lines"]
    assert (line.old, line.new, line.who, line.why) == ("5", "7", "Grace Hopper", "imported from a file")
    assert "1 cell shows something else." in answer.content.decode()
    turned = signed_in(teacher).get(url(cell), {"from": "7", "to": "3"})
    assert [(each.old, each.new) for each in turned.context["lines"]] == [("5", "7")]
    same = signed_in(teacher).get(url(cell), {"from": "7"})
    assert b"Every cell shows the same at both moments." in same.content


def test_students_are_in_the_order_of_the_sheet_by_family_name(teacher: User, cell: Cell) -> None:
    in_order = ["Bo angel", "Zoe Ångström", "Felix Ó'Brien", "Rosa Sánchez", "Ada Singh"]
    for name in reversed(in_order):
        project(record(Cell(sheet_id=cell.sheet_id, student_name=name).change("5")))
    client = signed_in(teacher)
    assert [name for name, _ in client.get(url(cell)).context["grid"].rows] == in_order
    lines = client.get(url(cell), {"from": "0"}).context["lines"]
    assert [line.change.student_name for line in lines] == in_order


def test_result_kept_beside_is_no_difference(cell: Cell) -> None:
    project(record(cell.change("5"), cell.change("6"), cell.change("6", reason="kept_beside")))
    (line,) = list_differences_between(1, AFTER_ALL, sheet_id=cell.sheet_id)
    assert (line.pos, line.old_value, line.new_value, line.reason) == (2, Decimal(5), Decimal(6), "typed")


def test_sheet_before_the_log_comes_from_the_copies(cell: Cell) -> None:
    for pos, value in ((-2, 3), (-1, 4)):
        BackfilledMark.objects.create(**_line(cell, pos, value))
    project(record(cell.change("5")))
    assert [shown(cell, pos) for pos in (BEFORE_ALL, -3, -2, -1, 0, 1)] == [[], [], [3], [4], [4], [5]]
    assert find_position_at(datetime(2026, 5, 4, tzinfo=UTC), sheet_id=cell.sheet_id) == -1
    assert find_position_at(datetime(2020, 5, 4, tzinfo=UTC), sheet_id=cell.sheet_id) == BEFORE_ALL
    assert [line.new_value for line in list_differences_between(-2, 1, sheet_id=cell.sheet_id)] == [5]


def test_large_saves_are_offered_with_the_position_before_them(cell: Cell) -> None:
    batch_id = uuid4()
    project(record(cell.change("1")))
    for pos in range(10, 15):
        MarkHistory.objects.create(**_line(Cell(sheet_id=cell.sheet_id), pos, 2) | {"batch_id": batch_id})
    (batch,) = list_recent_batches(sheet_id=cell.sheet_id)
    at = datetime(2026, 5, 4, tzinfo=UTC)
    assert batch == BatchOfChanges(10, 14, 5, at, "Grace Hopper", "person", "imported")
    assert batch.before == 9


@pytest.mark.parametrize(
    "text",
    ["x", "1.0.7", "0.0.x", "2026-13-01T00:00", "1e3", "9" * 40, "\x00", "²", "0001-01-01T00:00:00+23:00"],
)
def test_what_is_no_moment_is_said_so(text: str, teacher: User, cell: Cell) -> None:
    answer = signed_in(teacher).get(url(cell), {"at": text})
    assert answer.status_code == 400
    assert "is neither a time, such as" in answer.content.decode()


def test_moment_is_on_the_schools_clock_unless_it_names_its_own() -> None:
    with timezone.override("Europe/Helsinki"):
        assert read_moment("2026-05-04T10:30") == Asked(moment=datetime(2026, 5, 4, 7, 30, tzinfo=UTC))
        assert read_moment("2026-10-25T03:30") == Asked(moment=datetime(2026, 10, 25, 0, 30, tzinfo=UTC))
    assert read_moment("2026-05-04T10:30:15+01:00") == Asked(
        moment=datetime(2026, 5, 4, 9, 30, 15, tzinfo=UTC)
    )
    positions = [Asked(pos=12), Asked(pos=-3), Asked(pos=5, log=(0, 1))]
    assert [read_moment(text) for text in ("12", "-3", "0.1.5")] == positions


def test_position_that_history_has_not_come_to_is_said_so(teacher: User, cell: Cell) -> None:
    record(cell.change("5"))  # numbered, and not applied by anybody
    Consumer.objects.create(name=MarksheetHistory.name, staleness_budget=timedelta(0))
    text = signed_in(teacher).get(url(cell), {"at": "1"}).content.decode()
    assert "The history has come to position 0" in text
    assert "The history may be up to 1 s behind." in text


@pytest.mark.parametrize("count", [1, 3])
def test_sheet_as_it_was_costs_the_same_queries_however_much_there_is(
    teacher: User, cell: Cell, count: int
) -> None:
    for number in range(count):
        project(record(cell.change(str(number)), Cell(sheet_id=cell.sheet_id).change("1")))
    client, spent = signed_in(teacher), []
    for query in ({"at": "1"}, {"from": "1", "to": "2"}, {"at": "2026-05-04T10:30"}):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(url(cell), query).status_code == 200
        spent.append(len(queries))
    # session, person, permission, how far behind; whether it has copies; (the position,) the cells; large saves
    assert spent == [7, 7, 8]


def _line(cell: Cell, pos: int, value: int) -> dict[str, Any]:
    return {
        "pos": pos,
        "event_id": uuid4(),
        "school_id": cell.sheet_id,
        "sheet_id": cell.sheet_id,
        "column_id": cell.column_id,
        "student_id": cell.student_id,
        "cell_version": 0,
        "column_title": "Essay",
        "student_name": "Ada Lovelace",
        "old_value": value - 1,
        "new_value": value,
        "reason": "imported",
        "actor_type": "person",
        "actor_name": "Grace Hopper",
        "occurred_at": datetime(2026, 5, 4, tzinfo=UTC),
    }


@pytest.fixture
def long_history() -> UUID:
    """A sheet of 30 cells with 20,000 changes, and as many of other sheets, where planning an index is worth it."""
    sheet_id = uuid4()
    multiply(
        MarkHistory(**_line(Cell(sheet_id=sheet_id), 0, 5)),
        40_000,
        pos="number",
        event_id="gen_random_uuid()",
        sheet_id=f"CASE number % 2 WHEN 1 THEN '{sheet_id}'::uuid ELSE md5('sheet' || number % 60)::uuid END",
        column_id="md5('column' || number % 60)::uuid",
        student_id="md5('student' || number % 60)::uuid",
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE projections_markhistory, projections_backfilledmark")
    return sheet_id


def _explain(read: Callable[[], Any]) -> dict[str, Any]:
    with CaptureQueriesContext(connection) as queries:
        read()
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON, TIMING OFF) " + queries[0]["sql"])
        (plans,) = cursor.fetchone()
    return dict(plans[0]["Plan"])


def _list_scans(plan: dict[str, Any]) -> list[tuple[str, str, float]]:
    """Return each scan of the history: how, by which index, and how many rows it read in all."""
    own = []
    if plan.get("Relation Name") == "projections_markhistory":
        removed = plan.get("Rows Removed by Filter", 0)
        rows = (plan["Actual Rows"] + removed) * plan["Actual Loops"]
        own = [(plan["Node Type"], plan.get("Index Name", ""), rows)]
    return own + [scan for child in plan.get("Plans", []) for scan in _list_scans(child)]


def _expect_scans(scans: Sequence[tuple[str, str, float]], index: str, at_most: int) -> None:
    assert {(how, by) for how, by, _ in scans} <= {("Index Scan", index), ("Index Only Scan", index)}
    assert scans
    assert sum(rows for _, _, rows in scans) <= at_most


def test_sheet_as_it_was_reads_a_few_rows_a_cell_however_long_its_history(long_history: UUID) -> None:
    plan = _explain(lambda: list_cells_as_of(20_001, sheet_id=long_history))
    _expect_scans(_list_scans(plan), "history_cell_idx", at_most=30 * 2 + 2)


def test_differences_read_the_changes_between_and_nothing_else(long_history: UUID) -> None:
    plan = _explain(lambda: list_differences_between(39_801, AFTER_ALL, sheet_id=long_history))
    _expect_scans(_list_scans(plan), "history_sheet_idx", at_most=100)


def test_large_saves_are_looked_for_among_the_newest_changes_only(long_history: UUID) -> None:
    plan = _explain(lambda: list_recent_batches(sheet_id=long_history))
    _expect_scans(_list_scans(plan), "history_sheet_idx", at_most=2_001)


def test_moment_is_found_from_the_newest_change_backwards(long_history: UUID) -> None:
    plan = _explain(lambda: find_position_at(datetime(2026, 5, 5, tzinfo=UTC), sheet_id=long_history))
    _expect_scans(_list_scans(plan), "history_sheet_idx", at_most=2)
