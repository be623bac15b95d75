"""`manage.py import_people`: put a list of people into a school, whole or not at all."""

import csv
import os
import secrets
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any, Final

from django.contrib.auth.hashers import make_password
from django.core.management.base import CommandError
from django.db import IntegrityError, transaction
from django.utils import timezone

from gradebook.errors import GradebookError
from gradebook.imports.admitting import RosterWishes, apply_roster, prepare_roster
from gradebook.imports.enrolling import RosterPlan
from gradebook.imports.formulas import guard
from gradebook.imports.workbooks import WorksheetNotNamed
from gradebook.models import Period, School
from outbox.management.progress import progress_bar
from outbox.management.teaching import TeachingCommand, read_file

HELP = """Put a list of people into a school, whole or not at all: accounts, who learns in which class, who teaches what.

The first row names the columns: username, first name, last name; and as you have them: email, role (student or teacher; student
where it is not said), class, course (its code, for teachers). Somebody in two classes stands on two lines.

  manage.py import_people people.xlsx --school "Hill School" --dry-run
  manage.py import_people people.csv --school "Hill School" --make-classes --passwords first-passwords.csv
  manage.py import_people teachers.csv --school "Hill School" --period "Autumn 2026"

CSV in UTF-8 or an Excel workbook. Every fault is named with its line; with one, nothing is done. Said again, a list changes nothing
but names and addresses that it corrects. It takes nobody out of a class, and gives nobody another role or school.

--passwords makes a password for each new account and writes them into a new file that only you can read: hand them out, then delete
it. Without it new accounts cannot sign in until somebody gives them one.

Exit codes: 0 done, or nothing to do; 1 refused, nothing changed.
"""
_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"  # none that looks like another
_PARTS: Final = 3
_PART: Final = 4


class Command(TeachingCommand):
    """Arguments and wiring; the work is in gradebook.imports."""

    help = HELP

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument("--school", required=True, metavar="NAME")
        parser.add_argument("--period", default="", metavar="NAME", help="the term that teachers teach in")
        parser.add_argument(
            "--from",
            dest="starts_on",
            type=_day,
            metavar="YYYY-MM-DD",
            help="the day from which students are in their classes (default: the term's first, else today)",
        )
        parser.add_argument("--make-classes", action="store_true", help="make the classes that are not there")
        parser.add_argument(
            "--passwords", type=Path, metavar="NEW.csv", help="make passwords, and write them here"
        )
        parser.add_argument(
            "--worksheet", default="", metavar="NAME", help="which one of a workbook that has several"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would change, and change nothing"
        )

    def handle(
        self, *, file: Path, school: str, passwords: Path | None, dry_run: bool, **options: Any
    ) -> None:
        """Run it."""
        place = _find_school(school)
        wishes = _read_wishes(place, options)
        try:
            plan = prepare_roster(school=place, data=read_file(file), wishes=wishes)
        except WorksheetNotNamed as refused:
            raise CommandError(f"{refused.detail} Say it with --worksheet.") from refused
        except GradebookError as refused:
            raise CommandError(refused.detail) from refused
        if plan.faults:
            raise CommandError("\n".join(["Nothing of this list was taken.", *map(str, plan.faults)]))
        if not dry_run:
            try:
                _admit(place, plan, wishes, passwords)
            except GradebookError as refused:
                raise CommandError(refused.detail) from refused
            except IntegrityError as error:
                raise CommandError(
                    "Nothing was changed: somebody else changes this school. Run it again."
                ) from error
        for line in _sum_up(plan, dry_run=dry_run):
            self.stdout.write(line)


def _admit(school: School, plan: RosterPlan, wishes: RosterWishes, file: Path | None) -> None:
    """Write the passwords and the people; of both or neither something is left."""
    if file is None or not plan.new_people:
        apply_roster(school=school, plan=plan, wishes=wishes, passwords={})
        return
    secret = {name: _make_password() for name in plan.new_people}
    with _new_file(file) as written, transaction.atomic():
        apply_roster(school=school, plan=plan, wishes=wishes, passwords=_hash(secret))
        rows = csv.writer(written)
        rows.writerow(["username", "name", "password"])
        # A name could be a formula where the file is opened, with the passwords in the cells beside it.
        rows.writerows([name, guard(plan.new_people[name].full_name), secret[name]] for name in secret)
        written.flush()
        os.fsync(written.fileno())


@contextmanager
def _new_file(path: Path) -> Iterator[Any]:
    """Make a file that only its owner may read; there is none where the work came to grief."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise CommandError(f"{path} cannot be made: {error.strerror}.") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8-sig", newline="") as file:
            yield file
    except BaseException:
        path.unlink()
        raise


def _make_password() -> str:
    return "-".join("".join(secrets.choice(_LETTERS) for _ in range(_PART)) for _ in range(_PARTS))


def _hash(passwords: Mapping[str, str]) -> dict[str, str]:
    """Hash them, as many at once as there are cores: one takes a good part of a second, on purpose."""
    hashed: dict[str, str] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool, progress_bar("Passwords", unit="hashes") as report:
        for name, one in zip(passwords, pool.map(make_password, passwords.values()), strict=True):
            hashed[name] = one
            report(len(hashed), len(passwords))
    return hashed


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a day, such as 2026-09-01") from error


def _find_school(name: str) -> School:
    try:
        return School.objects.get(name=name, is_rehearsal=False)
    except School.DoesNotExist as error:
        names = ", ".join(
            School.objects.filter(is_rehearsal=False).order_by("name").values_list("name", flat=True)[:20]
        )
        raise CommandError(f"There is no school {name!r}. There are: {names or 'none'}.") from error


def _read_wishes(school: School, options: Mapping[str, Any]) -> RosterWishes:
    period = None
    if options["period"]:
        period = Period.objects.filter(school=school, name=options["period"]).first()
        if period is None:
            names = ", ".join(
                Period.objects.filter(school=school).order_by("starts_on").values_list("name", flat=True)
            )
            raise CommandError(
                f"There is no term {options['period']!r} in this school. There are: {names or 'none'}."
            )
    starts_on = options["starts_on"] or (period.starts_on if period else timezone.localdate())
    return RosterWishes(period, starts_on, options["make_classes"], options["worksheet"])


def _sum_up(plan: RosterPlan, *, dry_run: bool) -> Iterator[str]:
    yield "Would change:" if dry_run else "Done:"
    for number, what in (
        (len(plan.new_people), "new accounts"),
        (len(plan.renamed), "corrected names or addresses"),
        (len(plan.new_classes), "new classes"),
        (len(plan.enrolments), "students into a class"),
        (len(plan.assignments), "teachers to a class and course"),
    ):
        yield f"{number:>7,} {what}"
    for name in plan.new_classes:
        yield f"        new class: {name}"
    if plan.ignored:
        yield f"Not looked at: {', '.join(plan.ignored)}."
