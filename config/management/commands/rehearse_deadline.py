"""`manage.py rehearse_deadline`: see config.rehearsal."""

import datetime as dt
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from config.processes.address import find_listening
from config.rehearsal.crew import CourierFailed
from config.rehearsal.curves import measure_latency
from config.rehearsal.page import write_report
from config.rehearsal.rehearse import CannotRehearse, Options, Rehearsal, rehearse
from config.rehearsal.school import find_real_exams
from config.rehearsal.wire import Address
from outbox.management.progress import progress_bar
from outbox.management.teaching import TeachingCommand, seconds

MOST_STUDENTS = 200_000


def address(text: str) -> Address:
    """Read http://host:port from the command line."""
    try:
        return Address.parse(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def html_file(text: str) -> Path:
    """Read the name of a page; the JSON beside it has the same name with its own ending."""
    file = Path(text)
    if file.suffix not in {".html", ".htm"}:
        raise ArgumentTypeError(f"{text!r} does not end in .html")
    return file


class Command(TeachingCommand):
    """Arguments and wiring."""

    help = """\
Rehearse a deadline against a running Handover, and hold every receipt against the database.

Makes a school named "Rehearsal" and the moment in this installation's database, and lets its students hand in over HTTP, each at their moment whether
or not others have been answered; ever more of them towards the end. Some send twice, some again, some over a slow line, and some
hang up and come back. Refusals are tried again as the exam page does it. When results and marks are there, every attempt is
compared: receipts (each signature checked) = submissions = results = events = marks.

  manage.py rehearse_deadline --students 2000 --window 10
  manage.py rehearse_deadline --students 20000 --window 120 --address https://exams.example.org --report before-the-exam.html

The load goes through whatever stands in front (proxy, TLS), so send it from another machine with the same DATABASE_URL and keys:
on one machine the senders take their part of it. Afterwards the school is put away (see `rehearsals`): its submissions, results
and log stay, because nothing can delete those, and no list shows them.
Writes one HTML page and the same as JSON. Exit code 0: everything adds up. 1: something differs, or was not done in time, or refused."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say how large."""
        parser.add_argument("--students", type=int, required=True, help="how many hand in, one attempt each")
        parser.add_argument("--window", type=seconds, required=True, help="within how many seconds")
        here = find_listening(settings.DATA_DIR, host=settings.HOST, port=settings.PORT)
        parser.add_argument(
            "--address",
            type=address,
            default=Address.parse(here.url),
            help=f"where (default: the product that runs on this HANDOVER_DATA, else HOST and PORT: now {here.url})",
        )
        parser.add_argument(
            "--seed", type=int, default=1, help="the same seed: the same moments and manners, %(default)s"
        )
        parser.add_argument(
            "--patience", type=seconds, default=120.0, help="seconds to go on trying, %(default)s"
        )
        parser.add_argument(
            "--drain", type=seconds, default=300.0, help="seconds to wait for marks, %(default)s"
        )
        parser.add_argument("--connections", type=int, default=256, help="kept open in all, %(default)s")
        parser.add_argument(
            "--report", type=html_file, metavar="FILE.html", help="default: in HANDOVER_DATA/rehearsals"
        )
        parser.add_argument("--keep", action="store_true", help="leave the accounts active")
        parser.add_argument("--yes-really", action="store_true", help="also while real exams are running")

    def handle(self, **options: Any) -> None:
        """Check, rehearse, report."""
        self._check(options["students"], options["connections"], is_meant=options["yes_really"])
        names = ("address", "students", "window", "seed", "patience", "drain", "connections", "keep")
        chosen = Options(**{name: options[name] for name in names})
        page = _make_place(options["report"] or _default_page())
        try:
            with progress_bar("Rehearsal", unit="students") as report:
                rehearsal = rehearse(chosen, tell=report)
        except (CannotRehearse, CourierFailed) as error:
            raise CommandError(str(error)) from error
        facts = write_report(rehearsal, page)
        for line in _summarise(rehearsal):
            self.stdout.write(line)
        self.stdout.write(f"Report: {page} and {facts}")
        if not rehearsal.is_clean:
            raise CommandError("Not everything adds up.")

    def _check(self, students: int, connections: int, *, is_meant: bool) -> None:
        if not 1 <= students <= MOST_STUDENTS:
            raise CommandError(f"--students must be between 1 and {MOST_STUDENTS:,}.")
        if connections < 1:
            raise CommandError("--connections is at least 1.")
        running = find_real_exams()
        if running and not is_meant:
            raise CommandError(
                "Exams are running that people may be sitting: "
                f"{'; '.join(running[:5])}. A rehearsal would compete with them. --yes-really does it all the same."
            )


def _default_page() -> Path:
    stamp = dt.datetime.now(tz=dt.UTC).strftime("%Y%m%dT%H%M%SZ")
    return Path(settings.DATA_DIR) / "rehearsals" / f"{stamp}.html"


def _make_place(page: Path) -> Path:
    """See now that the page can be written, so that what was found is not lost for want of a place; leave no empty one."""
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        is_new = not page.exists()
        page.touch()
        if is_new:
            page.unlink()
    except OSError as error:
        raise CommandError(f"Cannot write {page}: {error.strerror}.") from error
    return page


def _summarise(rehearsal: Rehearsal) -> list[str]:
    lines = [
        f"  {name.replace('_', ' '):16} {number:>9,}" for name, number in rehearsal.totals._asdict().items()
    ]
    latency = measure_latency(rehearsal.outcomes)
    if latency is not None:
        lines.append(
            f"Receipts: half within {latency.p50:.3f} s, 99 % within {latency.p99:.3f} s, the last {latency.longest:.3f} s."
        )
    if rehearsal.drained_at is None:
        lines.append(f"Not all marks were there {rehearsal.options.drain:g} s after the last answer.")
    else:
        lines.append(f"All marks were there {rehearsal.drained_at:.1f} s after the window began.")
    return [
        *lines,
        *(f"DIFFERENCE {one.attempt_id}: {one.kind}: {one.detail}" for one in rehearsal.differences[:20]),
    ]
