"""`manage.py run_consumer NAME…`: follow the log until told to stop."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from outbox.consumers import registry
from outbox.consumers.batches import LIMIT
from outbox.consumers.following import catch_up, follow_all
from outbox.errors import OutboxError
from outbox.management.teaching import TeachingCommand
from outbox.stopping import stop_on_signals


class Command(TeachingCommand):
    """Arguments and wiring; the loop is in `outbox.consumers.following`."""

    help = """\
Follow the event log with one or more consumers until told to stop. Each has its own cursor and its own pace.

A new consumer begins at position 0 and reads the whole log. Several processes may run the same one: they take turns, and when one dies
another goes on where it stood. An event that fails three times parks its subject (`manage.py consumers list`), and all
others flow on.

On SIGTERM or Ctrl-C the batch in hand is finished and the command ends with exit code 0. It ends with another code when it
cannot go on (half a minute without a database, a cursor of another epoch) and should then be started again."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say who follows, and for how long."""
        names = [handler.name for handler in registry.list_consumers()]
        parser.add_argument("names", nargs="+", metavar="NAME", help=f"one or more of: {', '.join(names)}")
        parser.add_argument("--once", action="store_true", help="catch up with the head of the log, then end")
        parser.add_argument(
            "--limit", type=int, default=LIMIT, metavar="N", help="positions in a batch (default %(default)s)"
        )

    def handle(self, **options: Any) -> None:
        """Run them."""
        try:
            handlers = [registry.get_consumer(name) for name in dict.fromkeys(options["names"])]
            if options["once"]:
                for handler in handlers:
                    with stop_on_signals() as stop:
                        catch_up(handler, stop, limit=options["limit"])
            else:
                with stop_on_signals() as stop:
                    follow_all(handlers, stop, limit=options["limit"])
        except OutboxError as refusal:
            raise CommandError(str(refusal)) from refusal
