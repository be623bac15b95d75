"""The copies become history: the same lines however often, and in however many runs, they are compared."""

import datetime as dt
import threading
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from gradebook.cells import CellKey
from gradebook.models import Column, MarkSheet, MarkSnapshot, User
from gradebook.snapshots.carrying import carry_over_marks
from gradebook.snapshots.phases import Phase
from outbox.consumers.batches import run_batch
from outbox.consumers.rebuild import begin_rebuild
from outbox.log.sequencer import sequence_events
from projections.backfill.walking import backfill_chunk, count_copies_to_come, list_unfilled_sheets
from projections.history.projector import MarksheetHistory
from projections.history.queries import list_cell_history, list_sheet_history, list_shown_history
from projections.models import BackfillCheckpoint, BackfilledMark
from tests import factories
from tests.cutover.copies import (
    LONG_AGO,
    backfill,
    backfilled,
    cells_of,
    enter,
    steps,
    write_copy,
    write_steps,
)
from tests.gradebook.marks import save
from tests.multiplying import multiply
from tests.people import World
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def column(world: World) -> Column:
    return factories.column(world.sheet, title="Essay")


@pytest.fixture
def copies(world: World, column: Column, student: User, other_student: User) -> list[MarkSnapshot]:
    """Five copies with five changes; the third says what the second said."""
    return write_steps(
        world.sheet,
        [
            cells_of(column, texts)
            for texts in (
                {student: "5"},
                {student: "5", other_student: "7"},
                {student: "5", other_student: "7"},
                {student: "6.5", other_student: "absent"},
                {student: "", other_student: "absent"},
            )
        ],
    )


def catch_up() -> None:
    sequence_events()
    while run_batch(MarksheetHistory()).more:
        pass


def test_neighbouring_copies_become_lines_with_negative_places(
    world: World, student: User, other_student: User, copies: list[MarkSnapshot]
) -> None:
    backfill()
    page = list_sheet_history(sheet_id=world.sheet.pk)
    assert steps(page.lines) == [
        ("cleared", "6.5", ""),
        *sorted([("typed", "7", "absent"), ("typed", "5", "6.5")], reverse=student.pk < other_student.pk),
        ("typed", "", "7"),
        ("typed", "", "5"),
    ]
    assert [line.pos for line in page.lines] == [-1, -2, -3, -4, -5]
    newest = page.lines[0]
    assert (newest.column_title, newest.student_name) == ("Essay", student.full_name)
    assert (newest.actor_type, newest.actor_name, newest.batch_id) == ("import", "Old Teacher", copies[-1].pk)
    assert newest.occurred_at == LONG_AGO + dt.timedelta(minutes=4)
    checkpoint = BackfillCheckpoint.objects.get()
    assert (checkpoint.copies, checkpoint.pos, checkpoint.is_complete) == (5, -6, True)
    assert (list_unfilled_sheets(), count_copies_to_come(world.sheet.pk)) == ([], 0)


@pytest.mark.parametrize("size", [1, 2, 4, 5, 6])
def test_lines_do_not_depend_on_the_size_of_the_chunks(size: int, copies: list[MarkSnapshot]) -> None:
    backfill()
    clean = backfilled()
    BackfilledMark.objects.all().delete()
    BackfillCheckpoint.objects.all().delete()
    backfill(size=size)
    assert backfilled() == clean


def test_backfill_twice_is_backfill_once(copies: list[MarkSnapshot]) -> None:
    backfill()
    once = backfilled()
    backfill()
    BackfillCheckpoint.objects.all().delete()
    backfill(size=2)
    assert backfilled() == once


def test_a_chunk_that_is_undone_leaves_neither_lines_nor_checkpoint(
    world: World, copies: list[MarkSnapshot]
) -> None:
    backfill_chunk(world.sheet.pk, size=2)
    before = backfilled(), list(BackfillCheckpoint.objects.values())
    with transaction.atomic():
        backfill_chunk(world.sheet.pk, size=2)
        transaction.set_rollback(True)
    assert (backfilled(), list(BackfillCheckpoint.objects.values())) == before


def test_copies_written_beside_events_are_not_backfilled(
    world: World,
    column: Column,
    student: User,
    other_student: User,
    teacher: User,
    copies: list[MarkSnapshot],
) -> None:
    """Live writes win: the log tells of them, whatever the walk through the copies does before, meanwhile and after."""
    carry_over_marks(sheet=world.sheet, by=teacher)
    enter(Phase.BACKFILL)
    backfill_chunk(world.sheet.pk, size=2)
    save(column, student, "9", version=1, by=teacher)
    backfill(size=2)
    save(column, student, "10", version=2, by=teacher)
    backfill()
    catch_up()
    page = list_sheet_history(sheet_id=world.sheet.pk)
    assert steps(page.lines)[:3] == [("typed", "9", "10"), ("typed", "", "9"), ("cleared", "6.5", "")]
    assert [line.pos > 0 for line in page.lines] == [True, True, False, False, False, False, False]


def test_pages_go_across_the_border_without_gap_or_repeat(
    world: World, column: Column, student: User, teacher: User, copies: list[MarkSnapshot]
) -> None:
    enter(Phase.HISTORY)
    for version, text in enumerate(["8", "9", "10"]):
        save(column, student, text, version=version, by=teacher)
    backfill()
    catch_up()
    whole = list_sheet_history(sheet_id=world.sheet.pk)
    found: list[Any] = []
    before: int | None = None
    while True:
        page = list_sheet_history(sheet_id=world.sheet.pk, before=before, size=2)
        found += page.lines
        before = page.older_before
        if before is None:
            break
    assert [line.event_id for line in found] == [line.event_id for line in whole.lines]
    assert len(found) == 8


def test_a_rebuild_of_the_history_leaves_the_time_before_the_log_alone(
    column: Column, student: User, teacher: User, world: World, copies: list[MarkSnapshot]
) -> None:
    enter(Phase.HISTORY)
    save(column, student, "8", by=teacher)
    backfill()
    catch_up()
    before = steps(list_sheet_history(sheet_id=world.sheet.pk).lines)
    begin_rebuild(MarksheetHistory())
    catch_up()
    assert steps(list_sheet_history(sheet_id=world.sheet.pk).lines) == before


@pytest.mark.parametrize("phase", [Phase.BESIDE, Phase.BACKFILL, Phase.REPLAY, Phase.HISTORY, Phase.STOPPED])
def test_the_page_shows_the_same_history_in_every_phase(
    phase: Phase, world: World, column: Column, student: User, teacher: User, copies: list[MarkSnapshot]
) -> None:
    carry_over_marks(sheet=world.sheet, by=teacher)
    enter(Phase.BESIDE)
    save(column, student, "8", version=1, by=teacher)
    save(column, student, "", version=2, by=teacher)
    backfill()
    catch_up()
    enter(phase)
    mine = [
        ("cleared", "8", ""),
        ("typed", "", "8"),
        ("cleared", "6.5", ""),
        ("typed", "5", "6.5"),
        ("typed", "", "5"),
    ]
    assert steps(walk_pages(world.sheet, CellKey(column.pk, student.pk))) == mine
    theirs = [("typed", "7", "absent"), ("typed", "", "7")]
    assert sorted(steps(walk_pages(world.sheet, None))) == sorted(mine + theirs)


def walk_pages(sheet: MarkSheet, key: CellKey | None) -> Sequence[Any]:
    lines: list[Any] = []
    before: int | None = None
    while True:
        page = list_shown_history(sheet_id=sheet.pk, key=key, before=before, size=3)
        lines += page.lines
        before = page.older_before
        if before is None:
            return lines


@pytest.mark.parametrize("count", [1, 3])
def test_a_page_of_both_eras_is_one_query(count: int, world: World, column: Column, student: User) -> None:
    write_steps(world.sheet, [cells_of(column, {student: str(number)}) for number in range(count)])
    backfill()
    with CaptureQueriesContext(connection) as queries:
        assert len(list_sheet_history(sheet_id=world.sheet.pk).lines) == count
    assert len(queries) == 1


def test_a_page_of_the_time_before_the_log_is_a_range_of_its_index(world: World) -> None:
    fill_backfilled(world.sheet.pk, 20_000)
    plan = plan_of(lambda: list_sheet_history(sheet_id=world.sheet.pk, before=-9_000))
    assert "Merge Append" in plan, plan
    assert "Index Scan Backward using one_backfilled_mark_per_place" in plan, plan
    assert "->  Sort" not in plan, plan


def test_a_page_of_a_cell_before_the_log_is_a_range_of_its_index(world: World) -> None:
    fill_backfilled(world.sheet.pk, 20_000)
    here, cell = world.sheet.pk, UUID(int=1)
    plan = plan_of(lambda: list_cell_history(sheet_id=here, column_id=cell, student_id=cell, before=-9_000))
    assert "Index Scan using backfilled_cell_idx" in plan, plan


def plan_of(read: Callable[[], Any]) -> str:
    with CaptureQueriesContext(connection) as queries:
        read()
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + queries[0]["sql"])
        return "\n".join(row[0] for row in cursor.fetchall())


def fill_backfilled(sheet_id: UUID, count: int) -> None:
    multiply(
        BackfilledMark(school_id=sheet_id, cell_version=0, occurred_at=LONG_AGO),
        count,
        event_id="md5(number::text)::uuid",
        pos="-number",
        sheet_id=f"CASE number % 2 WHEN 1 THEN '{sheet_id}'::uuid ELSE '{UUID(int=9)}'::uuid END",
        column_id="lpad(to_hex(number % 20), 32, '0')::uuid",
        student_id="lpad(to_hex(number % 30), 32, '0')::uuid",
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE projections_backfilledmark")
        cursor.execute("ANALYZE projections_markhistory")


def test_an_action_nobody_knows_is_said_to_come_from_a_copy(
    world: World, column: Column, student: User
) -> None:
    write_copy(world.sheet, cells_of(column, {student: "5"}), minute=0, action="nightly")
    write_copy(world.sheet, cells_of(column, {student: "6"}), minute=1, action="imported")
    backfill()
    assert steps(list_sheet_history(sheet_id=world.sheet.pk).lines) == [
        ("imported", "5", "6"),
        ("from_copy", "", "5"),
    ]


def test_two_runners_take_turns_from_the_first_chunk_on(world: World, copies: list[MarkSnapshot]) -> None:
    done: list[int] = []

    def run_second() -> None:
        try:
            done.append(backfill_chunk(world.sheet.pk, size=2).copies)
        finally:
            connection.close()

    second = threading.Thread(target=run_second)
    with transaction.atomic():
        done.append(backfill_chunk(world.sheet.pk, size=2).copies)
        second.start()
        wait_until(is_somebody_waiting)
    second.join(timeout=20)
    assert (done, BackfillCheckpoint.objects.get().copies) == ([2, 2], 4)


def is_somebody_waiting() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory')")
        return bool(cursor.fetchone()[0])


def test_a_sheet_with_copies_only_since_the_log_has_nothing_to_backfill(
    column: Column, student: User, teacher: User
) -> None:
    enter(Phase.BESIDE)
    save(column, student, "5", by=teacher)
    assert (MarkSnapshot.objects.count(), list_unfilled_sheets()) == (1, [])
