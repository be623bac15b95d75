"""`manage.py rebuild_projection NAME`: throw a projection away and fill it again from the log."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from outbox.consumers import registry
from outbox.consumers.beside import Comparison, Difference, rebuild_beside
from outbox.consumers.consumer import ConsumerHandler
from outbox.consumers.rebuild import rebuild
from outbox.consumers.tables import bind_live_tables
from outbox.errors import OutboxError
from outbox.management.progress import progress_bar
from outbox.management.teaching import TeachingCommand
from outbox.stopping import Stop, stop_on_signals


class Command(TeachingCommand):
    """Arguments and wiring; the work is in `outbox.consumers.rebuild` and `outbox.consumers.beside`."""

    help = """\
Throw a projection away and fill it again from the event log, while people go on using the system.

  (nothing)   empty the tables, set the cursor to 0, replay. Pages say "being rebuilt" until it is done.
  --beside    fill a twin first, compare it row by row with the live tables at the same position, then take over what
              differs in one transaction. Nobody ever sees an empty table.
  --compare   as --beside, but only report the differences. Exit code 1 when there are any.

It may be interrupted at any time. In place, run it again or leave the rest to the running consumer; beside, nothing has
happened yet. Other consumers are not touched.

Only what is derived can be rebuilt. A consumer that acts (it posts marks, hands on mail) is told where to go on instead:
manage.py consumers adopt NAME."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say which projection, and how."""
        names = [handler.name for handler in registry.list_consumers() if bind_live_tables(handler)]
        parser.add_argument("name", metavar="NAME", help=f"one of: {', '.join(names)}")
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--beside", action="store_true", help="fill a twin, compare, take over what differs")
        how.add_argument("--compare", action="store_true", help="fill a twin, compare, change nothing")

    def handle(self, **options: Any) -> None:
        """Rebuild it."""
        try:
            handler = registry.get_consumer(options["name"])
            with stop_on_signals() as stop:
                if options["beside"] or options["compare"]:
                    self._rebuild_beside(handler, stop, swap=options["beside"])
                else:
                    self._rebuild(handler, stop)
        except OutboxError as refusal:
            raise CommandError(str(refusal)) from refusal

    def _rebuild(self, handler: ConsumerHandler, stop: Stop) -> None:
        with progress_bar(handler.name, unit="events") as report:
            complete = rebuild(handler, stop, report=report)
        if not complete:
            raise CommandError(
                "Interrupted. Run it again to begin anew, or leave the rest to the running consumer."
            )
        self.stdout.write(f"{handler.name} is rebuilt.")

    def _rebuild_beside(self, handler: ConsumerHandler, stop: Stop, *, swap: bool) -> None:
        with progress_bar(f"{handler.name}, beside", unit="events") as report:
            comparison = rebuild_beside(handler, stop, report=report, swap=swap)
        if comparison is None:
            raise CommandError("Interrupted. The live tables are as they were.")
        self._show(comparison)
        if comparison.total and not swap:
            raise CommandError(f"{comparison.total} rows differ. Nothing was changed.")
        taken = (
            f"{comparison.total} rows taken over from the twin."
            if comparison.total
            else "Nothing to take over."
        )
        self.stdout.write(f"{handler.name} equals the log at position {comparison.position}. {taken}")

    def _show(self, comparison: Comparison) -> None:
        for table in comparison.tables:
            self.stdout.write(
                f"{table.table}: {table.missing} rows missing, {table.extra} too many, {table.different} different"
            )
            for difference in table.first:
                self.stdout.write(f"  {describe_difference(difference)}")


def describe_difference(difference: Difference) -> str:
    """Return one line on one row: the whole row where one side lacks it, else the columns that differ."""
    live, twin = difference.live, difference.twin
    if live is None:
        return f"missing: {twin}"
    if twin is None:
        return f"too many: {live}"
    changed = {column: (value, twin[column]) for column, value in live.items() if value != twin[column]}
    return f"different: {live} should have " + ", ".join(
        f"{column} {right!r}, not {wrong!r}" for column, (wrong, right) in changed.items()
    )
