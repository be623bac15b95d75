"""The cut-over moves by its gates alone: each refuses for one wrong cell and names it, and every phase but the last can be left backwards."""

import datetime as dt
import re
import threading
from decimal import Decimal
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from config.cutover.backfilling import run_backfill
from config.cutover.gates import list_gates
from config.cutover.moving import CannotMove, GateIsRed, advance, step_back
from gradebook.models import Cutover, Mark, MarkSnapshot, User
from gradebook.snapshots.phases import Phase, get_phase, share_phase
from outbox.models import Consumer, Event, ParkedSubject
from outbox.stopping import Stop
from projections.models import BackfilledMark, MarkHistory
from tests import factories
from tests.cutover.copies import LONG_AGO, backfill, cells_of, enter, write_copy
from tests.cutover.old_class import CatchUp, OldClass, catch_up, cutover, old
from tests.gradebook.marks import save
from tests.people import World
from tests.sessions import Background
from tests.waiting import wait_until

__all__ = ["catch_up", "old"]
pytestmark = pytest.mark.django_db(transaction=True)


def go(confirmed: str = "") -> Phase:
    return advance(ask=lambda gate: gate.check(), by="operator", confirmed=confirmed)


def find_all(phase: Phase) -> list[str]:
    """Return what this phase's gates find."""
    return [finding.what for gate in list_gates(phase) for finding in gate.check().first]


def test_a_class_goes_through_all_phases_and_its_page_never_changes(
    old: OldClass, teacher: User, catch_up: CatchUp
) -> None:
    client = Client()
    client.force_login(teacher)

    def read() -> list[str]:
        page = client.get(reverse("history:sheet", kwargs={"sheet_id": old.sheet.pk}))
        lines = re.findall(r'<li class="history__line">.*?</li>', page.content.decode(), re.DOTALL)
        return [re.sub(r"<time.*?</time>", "", line, flags=re.DOTALL) for line in lines]

    assert go() is Phase.BESIDE
    save(old.column, old.student, "8", version=1, by=teacher)
    save(old.column, old.other, "", version=1, by=teacher)
    seen = [read()]
    assert len(seen[0]) == 7
    for expected in (Phase.BACKFILL, Phase.REPLAY, Phase.HISTORY, Phase.LOCKED, Phase.STOPPED):
        assert go("stopped" if expected is Phase.STOPPED else "") is expected
        if expected is Phase.BACKFILL:
            backfill()
        catch_up()
        seen.append(read())
    assert seen == [seen[0]] * 6
    assert [gate.check().is_green for gate in list_gates(get_phase())] == [True]
    moves = Event.objects.filter(kind="CutoverMoved").order_by("seq")
    assert [(move.payload["old"], move.payload["new"]) for move in moves] == [(n, n + 1) for n in range(6)]


def test_every_phase_but_the_first_and_last_can_be_left_backwards_and_parity_stays(
    old: OldClass, teacher: User, catch_up: CatchUp
) -> None:
    """M5: after each step back the old way serves, and nothing is missing from it."""
    version = 1
    go()
    for phase in (Phase.BACKFILL, Phase.REPLAY, Phase.HISTORY, Phase.LOCKED):
        go()
        backfill()
        for _ in range(2):
            save(old.column, old.student, str(version), version=version, by=teacher)
            version += 1
            catch_up()
            assert [finding for every in Phase if every for finding in find_all(every) if every < 6] == []
            if get_phase() is phase:
                assert step_back(by="operator") == phase - 1
        assert go() is phase
        catch_up()
    assert MarkSnapshot.objects.filter(batch_id__isnull=False).count() == 8


def test_there_is_no_way_back_from_the_first_and_the_last_phase(old: OldClass) -> None:
    for phase, reason in ((Phase.BESIDE, "no phase before"), (Phase.STOPPED, "no way back")):
        enter(phase)
        with pytest.raises(CannotMove, match=reason):
            step_back(by="operator")
        assert get_phase() is phase


def test_the_last_door_opens_only_to_its_name(old: OldClass, catch_up: CatchUp) -> None:
    enter(Phase.LOCKED)
    backfill()
    catch_up()
    for word in ("", "yes", "locked", "STOPPED"):
        with pytest.raises(CannotMove, match="--confirm stopped"):
            go(word)
    assert get_phase() is Phase.LOCKED
    assert go("stopped") is Phase.STOPPED
    with pytest.raises(CannotMove, match="over"):
        go("stopped")


def test_a_phase_that_was_named_but_does_not_come_next_is_not_gone_to(old: OldClass) -> None:
    with pytest.raises(CannotMove, match="The next phase is beside, not stopped"):
        go("stopped")
    assert get_phase() is Phase.NONE


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


def look(phase: Phase, *, reads_all: bool = False) -> dict[Phase, tuple[bool, int]]:
    """Ask this phase's gates about the one sheet: whether each is green, and how many sheets it knew to be right."""
    reports = {
        gate.phase: gate.check(reads_all=reads_all)
        for gate in list_gates(phase)
        if gate.phase is not Phase.REPLAY
    }
    return {gate: (report.is_green, report.unchanged) for gate, report in reports.items()}


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


def test_a_rehearsal_changes_nothing(old: OldClass, catch_up: CatchUp) -> None:
    before = snapshot()
    assert cutover("advance", "--rehearse").startswith("green  marks are what the newest copies say") is False
    assert "Would be in phase 1, beside" in cutover("advance", "--rehearse")
    assert cutover("backfill", "--rehearse") == "5 copies of 1 sheet would give 5 lines of history.\n"
    enter(Phase.LOCKED)
    assert "Would be in phase 4, history" in cutover("back", "--rehearse")
    Cutover.objects.all().delete()
    assert snapshot() == before


def snapshot() -> list[int]:
    return [model.objects.count() for model in (Cutover, Event, BackfilledMark, MarkSnapshot)]


def untimed(said: str) -> list[str]:
    """Return the lines of what a command said, without how long each gate took."""
    return [re.sub(r", \d+\.\d s(?=\))", "", line) for line in said.splitlines()]


def test_the_command_leads_through_the_phases_and_names_what_is_wrong(
    old: OldClass, catch_up: CatchUp
) -> None:
    assert cutover("status").splitlines() == [
        "Phase 0 of 6, none: There is no old system: nothing writes or reads copies.",
        "Sheets that have copies: 1; of these not backfilled yet: 1.",
        "To reach beside: marks are what the newest copies say. `cutover check` asks them now.",
    ]
    with pytest.raises(CommandError, match="from phase `backfill` on"):
        cutover("backfill")
    cutover("advance")
    cutover("advance")
    output = StringIO()
    with pytest.raises(CommandError, match=r"Stays in phase backfill: .*: 1 difference\."):
        call_command("cutover", "advance", stdout=output, no_color=True)
    assert untimed(output.getvalue())[-2:] == [
        "red  history is the copies', cell by cell (1 sheet)",
        f"       {old.sheet}: 0 of 5 copies are backfilled: run `cutover backfill`",
    ]
    assert cutover("backfill", "--rate", "10000") == "5 copies of 1 sheet gave 5 lines of history.\n"
    catch_up()
    assert "Now in phase 3, replay" in cutover("advance")
    assert untimed(cutover("check")) == [
        "green  events complete (1 sheet, 1 unchanged since it was green)",
        "green  history is the copies', cell by cell (1 sheet, 1 unchanged since it was green)",
        "green  history at the head of the log",
        "green  pages show the same history (1 sheet)",
    ]


def test_a_sheet_that_never_was_in_the_old_system_does_not_stand_in_the_way(
    old: OldClass, world: World, teacher: User, catch_up: CatchUp
) -> None:
    """Somebody used Handover before the copies came: that sheet's history is the log's, in every phase."""
    group = factories.school_class(world.school)
    student = factories.student(world.school)
    factories.enrolment(student, group)
    factories.assignment(teacher, group, world.course, world.period)
    column = factories.column(factories.sheet(group, world.course, world.period))
    save(column, student, "3", by=teacher)
    go()
    save(column, student, "4", version=1, by=teacher)
    go()
    backfill()
    for _ in range(4):
        catch_up()
        go("stopped" if get_phase() is Phase.LOCKED else "")
    assert get_phase() is Phase.STOPPED
    assert not MarkSnapshot.objects.filter(sheet=column.sheet).exists()


def test_two_operators_do_not_move_it_twice(old: OldClass) -> None:
    go()

    def meanwhile(gate: object) -> object:
        Cutover.objects.update(phase=Phase.BACKFILL)
        return list_gates(Phase.STOPPED)[0].check()

    with pytest.raises(CannotMove, match="Somebody else"):
        advance(ask=meanwhile, by="operator")  # type: ignore[arg-type] # any green report will do
    assert get_phase() is Phase.BACKFILL


def test_it_is_not_moved_behind_somebody_who_does_not_end_their_save(old: OldClass) -> None:
    go()
    sharing, release = threading.Event(), threading.Event()

    def save_for_long() -> None:
        with transaction.atomic():
            share_phase()
            sharing.set()
            release.wait(60)

    forgotten = Background(save_for_long)
    assert sharing.wait(60)
    try:
        with pytest.raises(CannotMove, match="saving marks for seconds"):
            go()
    finally:
        release.set()
        forgotten.result()
    assert get_phase() is Phase.BESIDE
    assert go() is Phase.BACKFILL


def test_backfill_waits_for_a_history_that_is_behind_and_says_so(
    old: OldClass, catch_up: CatchUp, caplog: pytest.LogCaptureFixture
) -> None:
    catch_up()
    go()
    go()
    Consumer.objects.update(
        staleness_budget=dt.timedelta(0)
    )  # what `go` wrote into the log is more than it may be behind

    def help_it() -> None:
        wait_until(lambda: "Waiting: the history is" in caplog.text)
        try:
            catch_up()
        finally:
            connection.close()

    helper = threading.Thread(target=help_it)
    helper.start()
    with Stop() as stop:
        done = run_backfill(stop, rate=None, rehearse=False, report=lambda *_: None)
    helper.join(timeout=20)
    assert (done.copies, done.is_complete) == (5, True)


def test_backfill_ends_after_its_chunk_when_told_to_stop(old: OldClass) -> None:
    enter(Phase.BACKFILL)
    with Stop() as stop:
        stop.set()
        done = run_backfill(stop, rate=1, rehearse=False, report=lambda *_: None)
    assert (done.copies, done.is_complete) == (5, False)
