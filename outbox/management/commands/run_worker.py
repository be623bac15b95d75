"""`manage.py run_worker`: take jobs and do them until told to stop."""

import datetime as dt
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from outbox.loop import run_loop
from outbox.management.teaching import TeachingCommand, batch_size, per_second, seconds
from outbox.processes import Heart
from outbox.queue.claim import LARGEST_BATCH, Claimer
from outbox.queue.handlers import list_kinds
from outbox.queue.keeper import Keeper
from outbox.queue.streams import BACKLOG_PER_SECOND, Allowance
from outbox.queue.worker import SECONDS_FOR_A_BATCH, Worker
from outbox.stopping import stop_on_signals


class Command(TeachingCommand):
    """Arguments and wiring; the loop is `outbox.queue.worker.Worker`."""

    help = """\
Take jobs from the queue and do them until told to stop.

Run as many as there are processor cores to spare: they share the work without knowing of each other, on one machine
or several. A worker takes up to --batch jobs at a time, does them without holding a lock, and writes all their
results in one transaction. If it is killed, the sweeper (`manage.py sweep`, which must run too) gives its jobs to
others within two seconds; if it freezes, when its lease runs out (JOB_LEASE_SECONDS). Neither can write a result twice.

On SIGTERM or Ctrl-C the batch in hand is finished and the command ends with exit code 0. It ends with another code
when it cannot go on (half a minute without a database, a batch that hangs) and should then be started again."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what to take, how much at a time, and for how long."""
        parser.add_argument("--once", action="store_true", help="work until no job is due, then end")
        parser.add_argument(
            "--batch",
            type=batch_size,
            default=LARGEST_BATCH,
            metavar="N",
            help="jobs to take at a time, 1 to %(default)s (default %(default)s)",
        )
        parser.add_argument(
            "--per-group",
            type=batch_size,
            default=LARGEST_BATCH,
            metavar="N",
            help="of these, how many may be of one exam (default %(default)s)",
        )
        parser.add_argument(
            "--kinds",
            nargs="+",
            choices=list_kinds(),
            default=list_kinds(),
            help="kinds of job to take (default: all)",
        )
        parser.add_argument(
            "--backlog-rate",
            type=per_second,
            default=BACKLOG_PER_SECOND,
            metavar="N",
            help="jobs of the backlog to take a second at most: regrades, replays, and what waited five minutes"
            " (default %(default)g)",
        )
        parser.add_argument(
            "--batch-seconds",
            type=seconds,
            default=SECONDS_FOR_A_BATCH,
            metavar="S",
            help="end this process when a batch takes longer, because it hangs (default %(default)g)",
        )

    def handle(self, **options: Any) -> None:
        """Run a worker."""
        lease = dt.timedelta(seconds=settings.JOB_LEASE_SECONDS)
        if not options["kinds"]:
            raise CommandError(
                "No app of this installation has registered a kind of job, so there is nothing to work on."
            )
        claimer = Claimer(
            kinds=options["kinds"],
            lease=lease,
            batch=options["batch"],
            per_group=options["per_group"],
            backlog=Allowance(options["backlog_rate"]),
        )
        with stop_on_signals() as stop, Keeper(Heart("worker"), lease) as keeper:
            worker = Worker(claimer, keeper, stop, batch_seconds=options["batch_seconds"])
            run_loop(worker.step_until_idle if options["once"] else worker.step, stop)
            worker.teller.tell()
        self.stdout.write(f"Ended. {worker.describe()}")
