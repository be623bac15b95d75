"""`manage.py run_sequencer`: number events until told to stop."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from outbox.errors import LogOfAnotherCluster
from outbox.log.sequencer import PassOutcome, sequence_events, start_epoch
from outbox.loop import run_loop
from outbox.management.teaching import TeachingCommand
from outbox.processes import Heart
from outbox.stopping import Stop, stop_on_signals

REST = (0.05, 0.1)


class Command(TeachingCommand):
    """Arguments and wiring; the work is in `outbox.log.sequencer`."""

    help = """\
Give every committed event its position in the log, so that consumers can read it, until told to stop.

One is enough; a second one, on another machine, takes over without being told when the first dies (there is no leader,
and two at once do no harm). While none runs, nothing is lost: submissions and marks are saved as ever, and histories
and results wait.

  --once          number what is waiting now, then end
  --start-epoch   after a backup was restored, or the data moved to another server: begin a new epoch of the log, then end.
                  Run it once, before anything else is started, as the owner of the tables. Every consumer then refuses to run until a
                  person says how it goes on: `rebuild_projection NAME`, or `consumers adopt NAME`.

On SIGTERM or Ctrl-C the pass in hand is finished and the command ends with exit code 0. After half a minute without a
database it ends with another code and should be started again."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say for how long."""
        deed = parser.add_mutually_exclusive_group()
        deed.add_argument("--once", action="store_true", help="number what is waiting now, then end")
        deed.add_argument("--start-epoch", action="store_true", help="begin a new epoch of the log, then end")

    def handle(self, **options: Any) -> None:
        """Do it."""
        if options["start_epoch"]:
            begun = start_epoch()
            self.stdout.write(
                f"A new epoch begins with tick {begun.tick_id}; {begun.count} events were numbered."
            )
            return
        try:
            with stop_on_signals() as stop:
                numbered = _follow(stop, once=options["once"])
        except LogOfAnotherCluster as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Ended. {numbered} events numbered.")


def _follow(stop: Stop, *, once: bool) -> int:
    heart = Heart("sequencer")
    numbered = 0

    def step() -> bool:
        nonlocal numbered
        heart.beat()
        done = sequence_events()
        numbered += done.count
        if once and done.outcome in {PassOutcome.NUMBERED, PassOutcome.NOTHING_NEW}:
            stop.set()
        return done.outcome is PassOutcome.FENCED

    run_loop(step, stop, rest=REST)
    heart.stop()
    return numbered
