"""`manage.py verify_log`: is every event still what it was when it was numbered?"""

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError, CommandParser

from outbox.log.verify import Verdict, get_last_tick_id, verify_log
from outbox.management.progress import progress_bar
from outbox.management.teaching import TeachingCommand


def tick_number(text: str) -> int:
    """Read a tick's number from the command line: they begin with 1."""
    if not (text.isdecimal() and int(text) >= 1):
        raise ArgumentTypeError(f"{text!r} is not the number of a tick: these begin with 1")
    return int(text)


class Command(TeachingCommand):
    """Arguments and wiring; the work is in `outbox.log.verify`."""

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
            type=tick_number,
            default=1,
            metavar="N",
            help="believe what stands before this tick (default 1)",
        )

    def handle(self, **options: Any) -> None:
        """Verify."""
        _refuse_to_verify_nothing(options["from_tick"])
        with progress_bar("Verifying the log", unit="events") as report:
            verdict = verify_log(report=report, from_tick=options["from_tick"])
        if verdict.fault:
            raise CommandError(f"{verdict.fault.description}. Sound before it: {_count(verdict)}.")
        self.stdout.write(f"The log is sound: {_count(verdict)}.")
        if verdict.digest:
            self.stdout.write(f"Digest of tick {verdict.last_tick}: {verdict.digest.hex()}")


def _refuse_to_verify_nothing(from_tick: int) -> None:
    """Refuse a tick that is not there yet: nothing would be looked at, and "sound" would be no lie and no help."""
    last = get_last_tick_id()
    if from_tick > max(last, 1):
        raise CommandError(f"There is no tick {from_tick}; the last one is {last}. Nothing was verified.")


def _count(verdict: Verdict) -> str:
    return f"{verdict.positions} events in {verdict.ticks} ticks"
