"""`manage.py sweep`: do what has to happen although nobody is there to do it."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from outbox.management.teaching import TeachingCommand
from outbox.queue.sweeper import Sweeper
from outbox.stopping import stop_on_signals


class Command(TeachingCommand):
    """Arguments and wiring; the sweeps are in `outbox.queue.sweeper`."""

    help = """\
Sweep until told to stop: take jobs back from workers that died (at once) or froze (when their lease ran out), give up
a job after its third loss, and run the sweeps the other apps registered, such as closing attempts past their deadline.

One sweeper is enough; two do no harm. A sweep that fails is logged and tried again at its next turn, and does not
keep the others from theirs. SIGTERM or Ctrl-C ends it with exit code 0.

With --once every sweep runs once, what it did is printed, and the exit code is 1 if one of them failed."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say for how long."""
        parser.add_argument("--once", action="store_true", help="run every sweep once, then end")

    def handle(self, *, once: bool, **_: Any) -> None:
        """Sweep."""
        if once:
            self._report(Sweeper().run_once())
            return
        with stop_on_signals() as stop:
            Sweeper().run(stop)

    def _report(self, done: dict[str, int | None]) -> None:
        for name, count in done.items():
            self.stdout.write(f"{name}: {'failed, see the log' if count is None else count}")
        if None in done.values():
            raise CommandError("A sweep failed.")
