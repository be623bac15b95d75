"""`manage.py issue_cards`: issue the report cards of a locked term, class by class, and print them into a folder."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from gradebook.cards.pdf import Printer
from gradebook.errors import GradebookError
from gradebook.filenames import name_part
from gradebook.management.terms import add_term_arguments, find_term
from gradebook.models import Period, SchoolClass, User
from gradebook.queries.cards import list_current_cards
from gradebook.services.cards import describe_card, issue_cards
from outbox.management.progress import progress_bar
from outbox.management.teaching import TeachingCommand

HELP = """Issue the report cards of a locked term: those that are missing, and those that do not hold any more.

One class is one transaction. Interrupted, or run again, it goes on where it was: a card that holds is kept. Nothing is released to
students by this. With --pdf all cards that count are printed into a folder, one folder a class.

  manage.py issue_cards "Autumn 2026" --by admin
  manage.py issue_cards "Autumn 2026" --by admin --class 9B --pdf cards

Exit codes: 0 done; 1 refused (the message says why).
"""


class Command(TeachingCommand):
    """Arguments and wiring; the work is in gradebook.services.cards."""

    help = HELP

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        add_term_arguments(parser)
        parser.add_argument("--by", required=True, help="the user name of the administrator who issues them")
        parser.add_argument("--class", dest="class_name", help="only this class")
        parser.add_argument("--pdf", type=Path, metavar="FOLDER", help="print the cards into this folder")

    def handle(
        self,
        *,
        term: str,
        school: str | None,
        by: str,
        class_name: str | None,
        pdf: Path | None,
        **options: Any,
    ) -> None:
        """Run it."""
        period = find_term(term, school)
        person = User.objects.filter(username=by).first()
        if person is None:
            raise CommandError(f"There is nobody called {by!r}.")
        classes = _find_classes(period, class_name)
        counts = [0, 0, 0]
        with progress_bar(f"Cards of {period.name}", unit="classes") as report:
            for done, school_class in enumerate(classes, 1):
                try:
                    issue = issue_cards(period_id=period.pk, school_class=school_class, by=person)
                except GradebookError as refused:
                    raise CommandError(f"{school_class.name}: {refused.detail}") from refused
                if pdf:
                    _print_into(pdf, period, school_class)
                for place, made in enumerate((issue.issued, issue.replaced, issue.kept)):
                    counts[place] += len(made)
                report(done, len(classes))
        self.stdout.write(f"{counts[0]} issued, {counts[1]} replaced, {counts[2]} still hold.")


def _find_classes(period: Period, name: str | None) -> list[SchoolClass]:
    classes = SchoolClass.objects.filter(marksheet__period=period).distinct().order_by("name")
    if name is None:
        return list(classes)
    found = list(classes.filter(name=name))
    if not found:
        known = ", ".join(classes.values_list("name", flat=True)[:20])
        raise CommandError(
            f"No class {name!r} has a mark sheet in {period.name}. There are: {known or 'none'}."
        )
    return found


def _print_into(folder: Path, period: Period, school_class: SchoolClass) -> None:
    try:
        _print(period, school_class, folder)
    except OSError as error:
        raise CommandError(
            f"{school_class.name}: its cards are issued, but cannot be written to {error.filename or folder}: {error.strerror}."
        ) from error


def _print(period: Period, school_class: SchoolClass, folder: Path) -> None:
    place = folder / (name_part(school_class.name, otherwise=str(school_class.pk)))
    place.mkdir(parents=True, exist_ok=True)
    printer = Printer("report_card")
    for card in list_current_cards(period, school_class).values():
        name = f"{name_part(card.content['student'])}-{card.code[:5].lower()}.pdf"
        (place / name).write_bytes(printer.print(describe_card(card)))
