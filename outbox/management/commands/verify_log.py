"""`manage.py verify_log`: is every event still what it was when it was numbered?"""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from outbox.management.progress import progress_bar
from outbox.management.teaching import TeachingCommand
from outbox.verify import Verdict, verify_log


class Command(TeachingCommand):
    """Arguments and wiring; the work is in `outbox.verify`."""

    help = """\
Walk the chain of digests over the event log and name the first event that was altered, removed, added or moved.

Each position holds the SHA-256 of its event, and each tick the SHA-256 of the tick before it and of its positions. So a
change of the past shows, unless every digest after it was rewritten too; then the last digest, printed here, is no longer the
one on the receipts handed out since. Compare it with one of them.

Reads only, and may run at any time, while the log grows. Exit code 1 when anything is wrong."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say where to begin."""
        parser.add_argument(
            "--from-tick",
            type=int,
            default=1,
            metavar="N",
            help="believe what stands before this tick (default 1)",
        )

    def handle(self, **options: Any) -> None:
        """Verify."""
        with progress_bar("Verifying the log", unit="events") as report:
            verdict = verify_log(report=report, from_tick=options["from_tick"])
        if verdict.fault:
            raise CommandError(f"{verdict.fault.description}. {_describe(verdict)}")
        self.stdout.write(f"The log is sound. {_describe(verdict)}")
        if verdict.digest:
            self.stdout.write(f"Digest of tick {verdict.last_tick}: {verdict.digest.hex()}")


def _describe(verdict: Verdict) -> str:
    return f"Sound: {verdict.positions} events in {verdict.ticks} ticks."
