"""`manage.py plan_capacity`: see config.capacity."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.capacity.measured import CannotRead, read_rates
from config.capacity.planning import P99_WAIT, RESULTS_WITHIN, CannotPlan, Demand, Rates, plan_capacity
from config.capacity.words import describe
from outbox.management.teaching import TeachingCommand, per_second, seconds


class Command(TeachingCommand):
    """Arguments and wiring."""

    help = """\
Say how many gate processes and workers an exam needs, from rates that were measured on the machines it will run on.

  manage.py plan_capacity --students 20000 --window 120 --bench .data/bench.json
  manage.py plan_capacity --students 20000 --window 120 --ack-rate 2500 --grade-rate 1200 --json

Rates are those of one process, a second. `make bench-gate bench-worker` measures them into bench.json: the acknowledgements of its
two gate processes are halved. A rate that is given counts, not the file's. The formulas, what they assume and what they
leave out are printed with the answer; the answer is where to begin, and `manage.py rehearse_deadline` says whether it holds.
Exit code 0: planned. 1: no count would do, or a rate is missing."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say which exam, and what was measured."""
        parser.add_argument("--students", type=int, required=True, help="how many hand in")
        parser.add_argument(
            "--window", type=seconds, required=True, help="within how many seconds before the deadline"
        )
        parser.add_argument(
            "--ack-rate", type=per_second, help="acknowledgements a second of one gate process"
        )
        parser.add_argument("--grade-rate", type=per_second, help="results a second of one worker")
        parser.add_argument(
            "--bench", type=Path, metavar="FILE", help="take rates that are not given from here"
        )
        parser.add_argument("--p99-wait", type=seconds, default=P99_WAIT, help="seconds in line, %(default)s")
        parser.add_argument(
            "--results-within",
            type=seconds,
            default=RESULTS_WITHIN,
            help="seconds to the last result, %(default)s",
        )
        parser.add_argument("--json", action="store_true", help="print the plan as JSON")

    def handle(self, **options: Any) -> None:
        """Plan and print."""
        if options["students"] < 1:
            raise CommandError("--students is at least 1.")
        demand = Demand(
            options["students"], options["window"], options["p99_wait"], options["results_within"]
        )
        try:
            rates = _find_rates(options["ack_rate"], options["grade_rate"], options["bench"])
            plan = plan_capacity(demand, rates)
        except (CannotPlan, CannotRead) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(dataclasses.asdict(plan), indent=2))
        else:
            self.stdout.write(describe(plan))


def _find_rates(acks: float | None, grades: float | None, file: Path | None) -> Rates:
    """Return the rates given, and from the file those that are not."""
    if acks is not None and grades is not None:
        return Rates(acks, grades)
    if file is None:
        raise CannotPlan(
            "Give --ack-rate and --grade-rate, or --bench with the file of `make bench-gate bench-worker`."
        )
    measured = read_rates(file)
    return Rates(acks or measured.acks, grades or measured.grades)
