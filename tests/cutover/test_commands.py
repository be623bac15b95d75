"""What an operator types for the cut-over: it rehearses, leads through the phases, and backfills at its own pace."""

import datetime as dt
import re
import threading
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from config.cutover.backfilling import run_backfill
from gradebook.models import Cutover, MarkSnapshot
from gradebook.snapshots.phases import Phase
from outbox.models import Consumer, Event
from outbox.stopping import Stop
from projections.models import BackfilledMark
from tests.cutover.copies import enter
from tests.cutover.gates import go
from tests.cutover.old_class import CatchUp, OldClass, catch_up, cutover, old
from tests.waiting import wait_until

__all__ = ["catch_up", "old"]
pytestmark = pytest.mark.django_db(transaction=True)


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
