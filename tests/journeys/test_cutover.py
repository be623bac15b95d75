"""A class comes from the old system's copies to the log, phase by phase, while its teacher looks at it and sees no difference."""

from playwright.sync_api import expect

from config.cutover.moving import advance
from gradebook.models import User
from gradebook.snapshots.phases import Phase, get_phase
from tests.cutover.copies import backfill
from tests.cutover.old_class import CatchUp, OldClass, catch_up, old
from tests.gradebook.marks import save
from tests.journeys.marking import Desk, OpenPage, open_sheet

__all__ = ["catch_up", "old"]


def read_sheet(desk: Desk, old: OldClass) -> list[str]:
    """Load the sheet anew, open the history of a cell, and return what both say (not the time of day of a save)."""
    desk.page.reload()
    desk.go_to(old.student, old.column)
    desk.press("h")
    drawer = desk.page.locator("[data-history-drawer]")
    expect(drawer.get_by_text("That is the whole history.")).to_be_visible()
    lines = drawer.locator(".history__change, .history__who").all_inner_texts()
    return desk.page.locator("tbody td").all_inner_texts() + lines


def test_a_class_goes_through_all_phases_and_its_teacher_sees_no_difference(
    open_page: OpenPage, old: OldClass, teacher: User, catch_up: CatchUp
) -> None:
    def go() -> Phase:
        last = "stopped" if get_phase() is Phase.LOCKED else ""
        return advance(ask=lambda gate: gate.check(), by="operator", confirmed=last)

    assert go() is Phase.BESIDE
    save(old.column, old.student, "8", version=1, by=teacher)
    desk = open_sheet(open_page, teacher, old.column)
    seen = [read_sheet(desk, old)]
    assert sorted(seen[0][:2]) == ["8", "absent"]
    assert len(seen[0]) == 2 + 2 * 4  # two cells; four changes of the one, each with who made it
    for expected in (Phase.BACKFILL, Phase.REPLAY, Phase.HISTORY, Phase.LOCKED, Phase.STOPPED):
        assert go() is expected
        backfill()
        catch_up()
        seen.append(read_sheet(desk, old))
    assert seen == [seen[0]] * 6
