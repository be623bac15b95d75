"""The cut-over moves by its gates alone, one phase at a time, and every phase but the first and the last can be left backwards."""

import re
import threading

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from config.cutover.gates import list_gates
from config.cutover.moving import CannotMove, advance, step_back
from gradebook.models import Cutover, MarkSnapshot, User
from gradebook.snapshots.phases import Phase, get_phase, share_phase
from outbox.models import Event
from tests import factories
from tests.cutover.copies import backfill, enter
from tests.cutover.gates import find_all, go
from tests.cutover.old_class import CatchUp, OldClass, catch_up, old
from tests.gradebook.marks import save
from tests.people import World
from tests.sessions import Background

__all__ = ["catch_up", "old"]
pytestmark = pytest.mark.django_db(transaction=True)


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
