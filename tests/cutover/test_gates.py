"""Each gate of the cut-over turns red for one wrong cell and names it, and reads again only what may have changed."""

import datetime as dt
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from config.cutover.gates import list_gates
from config.cutover.moving import GateIsRed
from gradebook.models import Mark, MarkSnapshot, User
from gradebook.snapshots.phases import Phase, get_phase
from outbox.models import Consumer, ParkedSubject
from projections.models import BackfilledMark, MarkHistory
from tests import factories
from tests.cutover.copies import LONG_AGO, backfill, cells_of, enter, write_copy
from tests.cutover.gates import find_all, go, look
from tests.cutover.old_class import CatchUp, OldClass, catch_up, old
from tests.gradebook.marks import save
from tests.people import World

__all__ = ["catch_up", "old"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_it_does_not_begin_while_a_mark_is_not_what_the_newest_copy_says(old: OldClass) -> None:
    Mark.objects.filter(student=old.other).update(code="", value=Decimal(7))
    with pytest.raises(GateIsRed) as red:
        go()
    (finding,) = red.value.report.first
    assert (finding.sheet_id, finding.key) == (old.sheet.pk, (old.column.pk, old.other.pk))
    assert finding.what == "the copy says absent, the sheet says 7"
    assert get_phase() is Phase.NONE


def test_a_cleared_mark_is_not_one_that_never_was(old: OldClass) -> None:
    Mark.objects.filter(student=old.student).delete()
    assert find_all(Phase.NONE) == ["the copy says blank, the sheet says nothing"]


def test_a_change_without_its_event_is_named(old: OldClass, teacher: User) -> None:
    go()
    save(old.column, old.student, "8", version=1, by=teacher)
    newest = MarkSnapshot.objects.latest("created_at")
    cells = cells_of(old.column, {old.student: "9", old.other: "absent"})
    write_copy(
        old.sheet, cells, minute=0, created_at=newest.created_at + dt.timedelta(seconds=1), batch_id=uuid4()
    )
    with pytest.raises(GateIsRed) as red:
        go()
    assert [finding.what for finding in red.value.report.first] == [
        "the copies say 8 → 9, the log says nothing"
    ]


def test_copies_that_are_not_backfilled_are_named(old: OldClass) -> None:
    enter(Phase.BACKFILL)
    assert find_all(Phase.BACKFILL) == ["0 of 5 copies are backfilled: run `cutover backfill`"]


@pytest.mark.parametrize("what", ["altered", "removed", "added"])
def test_a_backfilled_line_that_is_not_what_the_copies_say_is_named(what: str, old: OldClass) -> None:
    backfill()
    first = BackfilledMark.objects.order_by("pos")[0]
    if what == "altered":
        BackfilledMark.objects.filter(pk=first.pk).update(new_value=6)
    elif what == "removed":
        BackfilledMark.objects.filter(pk=first.pk).delete()
    else:
        first.pk, first.pos = uuid4(), first.pos - 1
        first.save(force_insert=True)
    at, line = f"{LONG_AGO:%Y-%m-%d %H:%M:%S}", "— → {}, Old Teacher, typed in the sheet"
    says = {
        "altered": (line.format(5), line.format(6)),
        "removed": (line.format(5), "nothing"),
        "added": ("nothing", line.format(5)),
    }[what]
    assert find_all(Phase.BACKFILL) == ["the copy of {} says {}, the history says {}".format(at, *says)]


def test_a_history_that_is_behind_or_has_parked_cells_is_no_history_to_switch_to(
    old: OldClass, catch_up: CatchUp
) -> None:
    backfill()
    catch_up()
    consumer = Consumer.objects.get(name="marksheet_history")
    ParkedSubject.objects.create(consumer=consumer, subject="cell:x", error="No.", tries=3)
    Consumer.objects.filter(name=consumer.name).update(state="paused", position=0)
    assert find_all(Phase.REPLAY) == [
        "1 cells are parked: `manage.py consumers` shows why",
        f"the history is {consumer.position} events behind: is its consumer running?",
    ]


def test_a_page_that_would_show_something_else_is_not_switched_to(
    old: OldClass, teacher: User, catch_up: CatchUp
) -> None:
    go()
    save(old.column, old.student, "8", version=1, by=teacher)
    backfill()
    catch_up()
    enter(Phase.REPLAY)
    MarkHistory.objects.update(new_value=9)
    with pytest.raises(GateIsRed) as red:
        go()
    assert [finding.what for finding in red.value.report.first] == [
        f"only the copies show here: — → 8, {teacher.full_name}, typed in the sheet",
        f"only the history shows here: — → 9, {teacher.full_name}, typed in the sheet",
    ]


def test_a_locked_sheet_that_is_not_its_last_copy_is_named(
    old: OldClass, world: World, catch_up: CatchUp
) -> None:
    backfill()
    catch_up()
    Mark.objects.filter(student=old.other).update(code="excused")
    enter(Phase.LOCKED)
    (gate,) = [gate for gate in list_gates(Phase.LOCKED) if gate.phase is Phase.LOCKED]
    assert gate.check().looked_at == 0
    world.period.locked_at = LONG_AGO
    world.period.save()
    report = gate.check()
    assert (report.looked_at, [finding.what for finding in report.first]) == (
        1,
        ["the copy says absent, the sheet says excused"],
    )
    world.period.refresh_from_db()
    assert world.period.generation == 1


def test_sheet_that_was_found_right_is_not_read_again_until_something_about_it_has_changed(
    old: OldClass, teacher: User, catch_up: CatchUp
) -> None:
    go()
    backfill()
    catch_up()
    gates = (Phase.BESIDE, Phase.BACKFILL, Phase.HISTORY)
    assert look(Phase.REPLAY) == dict.fromkeys(gates, (True, 0))
    with CaptureQueriesContext(connection) as again:
        assert look(Phase.REPLAY) == dict.fromkeys(gates, (True, 1))
    assert [query["sql"] for query in again if "copy.cells" in query["sql"]] == []
    assert look(Phase.REPLAY, reads_all=True) == dict.fromkeys(gates, (True, 0))
    save(old.column, old.student, "8", version=1, by=teacher)
    catch_up()
    assert look(Phase.REPLAY) == dict.fromkeys(gates, (True, 0))


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (Mark, {"value": Decimal(9), "code": ""}),
        (BackfilledMark, {"actor_name": "Somebody else"}),
        (MarkHistory, {"new_value": Decimal(9)}),
    ],
)
def test_what_was_right_and_was_changed_behind_everybodys_back_is_found_and_stays_found(
    model: Any, change: dict[str, Any], old: OldClass, teacher: User, catch_up: CatchUp
) -> None:
    go()
    save(old.column, old.student, "8", version=1, by=teacher)
    backfill()
    catch_up()
    assert all(is_green for is_green, _ in look(Phase.REPLAY).values())
    row = model.objects.values("pk", *change).order_by("pk")[0]
    model.objects.filter(pk=row["pk"]).update(**change)
    for _ in range(2):
        assert not all(is_green for is_green, _ in look(Phase.REPLAY).values())
    model.objects.filter(pk=row.pop("pk")).update(**row)
    assert all(is_green for is_green, _ in look(Phase.REPLAY).values())


def test_everything_is_read_again_before_the_last_door(old: OldClass, catch_up: CatchUp) -> None:
    """A copy cannot change. Where a superuser changed one all the same, that is seen at the latest where there is no way back."""
    backfill()
    catch_up()
    enter(Phase.HISTORY)
    assert all(is_green for is_green, _ in look(Phase.HISTORY).values())
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        MarkSnapshot.objects.filter(pk=old.copies[1].pk).update(
            cells=cells_of(old.column, {old.student: "1"})
        )
    assert all(is_green for is_green, _ in look(Phase.HISTORY).values())
    enter(Phase.LOCKED)
    with pytest.raises(GateIsRed):
        go("stopped")
    assert not all(is_green for is_green, _ in look(Phase.HISTORY).values())  # and it is remembered


def test_one_wrong_cell_among_many_is_found_and_named(world: World, teacher: User) -> None:
    """M3, at a fiftieth of its size; at its full size in test_full_size.py."""
    check_one_wrong_cell(world, teacher, sheets=4)


def check_one_wrong_cell(world: World, teacher: User, *, sheets: int) -> None:
    """Make sheets of 500 cells each, change one mark behind everybody's back, and look."""
    students = [factories.student(world.school) for _ in range(25)]
    made = []
    for _ in range(sheets):
        group = factories.school_class(world.school)
        sheet = factories.sheet(group, world.course, world.period)
        columns = [factories.column(sheet) for _ in range(20)]
        cells: dict[str, dict[str, dict[str, str]]] = {}
        for number, student in enumerate(students):
            row = {
                str(column.pk): {"value": str((number + place) % 11), "source": "teacher"}
                for place, column in enumerate(columns)
            }
            cells[str(student.pk)] = row
        write_copy(sheet, cells, minute=0)
        made.append((sheet, columns))
        fill_marks(sheet.pk, teacher)
    sheet, columns = made[sheets // 2]
    Mark.objects.filter(sheet=sheet, column=columns[7], student=students[11]).update(value=Decimal("7.001"))
    with pytest.raises(GateIsRed) as red:
        go()
    (finding,) = red.value.report.first
    assert (finding.sheet_id, finding.key) == (sheet.pk, (columns[7].pk, students[11].pk))
    assert (finding.what, red.value.report.total) == ("the copy says 7, the sheet says 7.001", 1)


def fill_marks(sheet_id: UUID, teacher: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO gradebook_mark (id, school_id, sheet_id, column_id, student_id, value, code, source, version,
                                        shown_version, updated_at, updated_by_id)
            SELECT gen_random_uuid(), copy.school_id, copy.sheet_id, cell.key::uuid, line.key::uuid,
                   (cell.value ->> 'value')::numeric, '', 'teacher', 1, 1, now(), %s
            FROM gradebook_marksnapshot AS copy, jsonb_each(copy.cells) AS line, jsonb_each(line.value) AS cell
            WHERE copy.sheet_id = %s
            """,
            [teacher.pk, sheet_id],
        )
