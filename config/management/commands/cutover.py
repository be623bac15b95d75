"""`manage.py cutover`: from the old system's copies to the log, phase by phase."""

import getpass
import sys
from functools import partial
from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.cutover.backfilling import Backfilled, run_backfill
from config.cutover.findings import GateReport, name_findings
from config.cutover.gates import Gate, list_gates
from config.cutover.moving import CannotMove, GateIsRed, advance, step_back
from config.cutover.pacing import find_reason_to_wait, read_pressure
from gradebook.models import Cutover
from gradebook.snapshots.phases import Phase, get_phase
from gradebook.snapshots.reading import list_copied_sheets
from outbox.management.progress import progress_bar
from outbox.management.teaching import TeachingCommand, per_second
from outbox.stopping import stop_on_signals
from projections.backfill.walking import list_unfilled_sheets


class Command(TeachingCommand):
    """Arguments and wiring; the work is in `config.cutover`."""

    help = """\
Lead the school from the old system's whole-class copies to the event log (docs/cutover.md).

  status     which phase it is, what that means, and what is still to do (the default)
  check      ask this phase's gates, and name every cell that differs. Exit code 1 when one is red. `advance` asks them again before it
             moves. A sheet that was found right is read again only once something about it has changed.
  advance    go to the next phase, if the gates of this one are green
  back       go one phase back: the old way serves again. Possible in every phase but the first and the last.
  backfill   make history of the copies from before the log; in phase `backfill` or later

  --all              with check and advance: read every sheet again. Done in any case before the last phase.
  --rehearse         with advance, back and backfill: do everything but change nothing
  --rate N           with backfill: at most N copies a second. It also waits, and says so, while the history is further behind than it
                     may be, a standby is 32 MiB behind, or a job has waited for 10 s; then it goes on by itself.
  --confirm PHASE    with advance: the phase to go to, by name; refused where it does not come next. The last one, stopped, wants it, because there
                     is no way back from it, and asks for it where somebody is at the keyboard.

Everything may be interrupted at any time and run again; people go on working meanwhile."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what to do, and how carefully."""
        deeds = ("status", "check", "advance", "back", "backfill")
        parser.add_argument("deed", nargs="?", default="status", choices=deeds, help="what to do (status)")
        parser.add_argument("--all", action="store_true", dest="reads_all", help="read every sheet again")
        parser.add_argument("--rehearse", action="store_true", help="change nothing")
        parser.add_argument(
            "--rate", type=per_second, metavar="N", help="with backfill: at most N copies a second"
        )
        parser.add_argument("--confirm", default="", metavar="PHASE", help="the next phase's name")

    def handle(self, *, deed: str, **options: Any) -> None:
        """Do it, or say why not."""
        try:
            getattr(self, f"_{deed}")(**options)
        except GateIsRed as red:
            self._tell(red.report)
            raise CommandError(f"Stays in phase {get_phase().word}: {red}") from red
        except CannotMove as refused:
            raise CommandError(str(refused)) from refused

    def _status(self, **_: Any) -> None:
        phase = get_phase()
        sheets, unfilled = list_copied_sheets(), list_unfilled_sheets()
        self.stdout.write(f"Phase {phase:d} of {Phase.STOPPED:d}, {phase.word}: {phase.meaning}")
        since = Cutover.objects.values_list("moved_at", flat=True).first()
        if since:
            self.stdout.write(f"Since {since:%Y-%m-%d %H:%M:%S %Z}.")
        self.stdout.write(
            f"Sheets that have copies: {len(sheets)}; of these not backfilled yet: {len(unfilled)}."
        )
        if unfilled and (reason := find_reason_to_wait(read_pressure())):
            self.stdout.write(f"A backfill would wait now: {reason}")
        if phase is not Phase.STOPPED:
            gates = ", ".join(gate.name for gate in list_gates(phase))
            self.stdout.write(f"To reach {Phase(phase + 1).word}: {gates}. `cutover check` asks them now.")

    def _check(self, *, reads_all: bool, **_: Any) -> None:
        reports = [self._ask(gate, reads_all=reads_all) for gate in list_gates(get_phase())]
        for report in reports:
            self._tell(report)
        if not all(report.is_green for report in reports):
            raise CommandError("Not everything is as it should be.")

    def _advance(self, *, rehearse: bool, confirm: str, reads_all: bool, **_: Any) -> None:
        if get_phase() is Phase.LOCKED and not (confirm or rehearse) and sys.stdin.isatty():
            confirm = input(
                f"No copies will be written any more, for good. Type {Phase.STOPPED.word} to go: "
            )
        ask = partial(self._ask, reads_all=reads_all)
        target = advance(ask=ask, by=getpass.getuser(), confirmed=confirm, rehearse=rehearse)
        self._tell_phase(target, rehearse=rehearse)

    def _back(self, *, rehearse: bool, **_: Any) -> None:
        self._tell_phase(step_back(by=getpass.getuser(), rehearse=rehearse), rehearse=rehearse)

    def _backfill(self, *, rehearse: bool, rate: float | None, **_: Any) -> None:
        with stop_on_signals() as stop, progress_bar("backfill", unit="copies") as report:
            done = run_backfill(stop, rate=rate, rehearse=rehearse, report=report, say=report.say)
        self.stdout.write(_describe(done, rehearse=rehearse))
        if not done.is_complete:
            raise CommandError("Interrupted. Run it again and it goes on from there.")

    def _ask(self, gate: Gate, *, reads_all: bool) -> GateReport:
        with progress_bar(gate.name, unit="sheets") as report:
            return gate.check(report, reads_all=reads_all)

    def _tell(self, report: GateReport) -> None:
        sign = self.style.SUCCESS("green") if report.is_green else self.style.ERROR("red")
        unchanged = f", {report.unchanged} unchanged since it was green" if report.unchanged else ""
        sheets = f"{_count(report.looked_at, 'sheet')}{unchanged}"
        looked = f" ({sheets}, {report.seconds:.1f} s)" if report.looked_at else ""
        self.stdout.write(f"{sign}  {report.name}{looked}")
        for line in name_findings(report.first):
            self.stdout.write(f"       {line}")
        if report.total > len(report.first):
            self.stdout.write(f"       and {report.total - len(report.first)} more")

    def _tell_phase(self, phase: Phase, *, rehearse: bool) -> None:
        verb = "Would be" if rehearse else "Now"
        self.stdout.write(f"{verb} in phase {phase:d}, {phase.word}: {phase.meaning}")


def _describe(done: Backfilled, *, rehearse: bool) -> str:
    verb = "would give" if rehearse else "gave"
    copies = "copy" if done.copies == 1 else "copies"
    sheets, lines = _count(done.sheets, "sheet"), _count(done.lines, "line")
    return f"{done.copies} {copies} of {sheets} {verb} {lines} of history."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
