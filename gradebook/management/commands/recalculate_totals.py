"""`manage.py recalculate_totals`: work a term's totals out again, and write those that moved."""

from argparse import ArgumentParser
from typing import Any

from gradebook.management.terms import add_term_arguments, find_term
from gradebook.models import MarkSheet
from gradebook.services.totals import recalculate_term
from outbox.management.progress import progress_bar
from outbox.management.teaching import TeachingCommand

HELP = """Work every total of a term out from its marks, and write only those that moved, each with the reason.

Safe to interrupt (what is done stays done) and to run while teachers type. Fifty mark sheets are worked on at a time.

  manage.py recalculate_totals "Autumn 2026"
  manage.py recalculate_totals "Autumn 2026" --school "Hill School"

Exit codes: 0 done; 1 there is no such term.
"""


class Command(TeachingCommand):
    """Arguments and wiring; the work is in gradebook.services.totals."""

    help = HELP

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        add_term_arguments(parser)

    def handle(self, *, term: str, school: str | None, **options: Any) -> None:
        """Run it."""
        period = find_term(term, school)
        sheets, done = MarkSheet.objects.filter(period=period).count(), 0
        with progress_bar(f"Totals of {period.name}", unit="sheets") as report:

            def advance(number: int) -> None:
                nonlocal done
                done += number
                report(done, sheets)

            result = recalculate_term(period_id=period.pk, progress=advance)
        self.stdout.write(
            f"{result.looked_at} totals looked at, {result.written} written: {result.first} for the first time, "
            f"{result.moved_by_marks} moved by marks, {result.moved_by_rules} by columns, weights or rules."
        )
