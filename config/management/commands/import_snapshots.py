"""`manage.py import_snapshots FILE.jsonl`: bring in copies that the old system exported."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from gradebook.errors import GradebookError
from gradebook.models import User
from gradebook.snapshots.importing import BadFile, Imported, check_file, import_file
from gradebook.snapshots.phases import Phase, share_phase
from outbox.management.progress import Report, progress_bar
from outbox.management.teaching import TeachingCommand, utf8
from projections.backfill.walking import forget_backfill


class Command(TeachingCommand):
    """Arguments and wiring; the work is in `gradebook.snapshots.importing`."""

    help = """\
Bring in whole-class copies that the old system exported: one JSON object a line, all of the file or nothing of it.

  {"id": "4711", "school": "Hill School", "period": "Autumn 2024", "course": "MAT9", "class": "9B", "action": "saved",
   "created_at": "2024-09-02T08:15:00+03:00", "created_by": "ahalonen", "created_by_name": "Anna Halonen",
   "columns": [{"title": "Essay", "max_points": "20", "category": "Written"}], "categories": [{"name": "Written", "weight": "60"}],
   "cells": {"student17": {"Essay": "7.5"}}}

Categories may be left out; they stay in the copies. A mark is a number with a point, a code (absent, excused, missing, exempt, withheld), or empty where it was cleared. Schools, terms, courses,
classes and students have to be here already; a mark sheet is opened where there is none, and gets the columns of its newest copy. Where
a sheet has no marks yet, those of its newest copy become its marks; marks that are there stay. The same file again adds nothing.

  --check        only read the file, and name each line that is wrong and what to do about it
  --by USERNAME  who answers for the columns and marks that are taken over: an administrator or a teacher of the classes

Memory does not grow with the file. Exit code 1: nothing was imported, and the message says why."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say which file, and who answers for it."""
        parser.add_argument(
            "file", type=Path, metavar="FILE.jsonl", help="the copies, one JSON object a line"
        )
        how = parser.add_mutually_exclusive_group(required=True)
        how.add_argument("--check", action="store_true", help="only read, change nothing")
        how.add_argument("--by", type=utf8, metavar="USERNAME", help="who answers for what is taken over")

    def handle(self, *, file: Path, check: bool, by: str | None, **_: Any) -> None:
        """Check the file, or import it."""
        _require_readable(file)
        try:
            with progress_bar(file.name, unit="bytes") as report:
                if check:
                    copies = check_file(file, report=report).copies
                    self.stdout.write(f"{copies} copies, nothing is wrong with them. Nothing was changed.")
                else:
                    self._tell(_import(file, _get_person(by), report))
        except BadFile as bad:
            raise CommandError(f"Nothing was imported.\n{bad}") from bad
        except GradebookError as refused:
            raise CommandError(f"Nothing was imported. {refused.detail}") from refused

    def _tell(self, done: Imported) -> None:
        here = done.copies - done.added
        self.stdout.write(
            f"{done.added} copies of {len(done.sheets)} sheets added"
            + (f", {here} were here already" if here else "")
            + f"; {done.marks} marks taken over."
        )


def _require_readable(file: Path) -> None:
    if not file.is_file():
        raise CommandError(f"There is no file {file}.")
    try:
        with file.open("rb") as opened:
            opened.read(1)
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from error


def _get_person(username: str | None) -> User:
    person = User.objects.filter(username=username).first()
    if person is None:
        raise CommandError(f"There is nobody called {username}.")
    return person


def _import(file: Path, by: User, report: Report) -> Imported:
    """Import the file and void what was made from the copies there were before, in one transaction."""
    with transaction.atomic():
        phase = share_phase()
        if phase > Phase.BESIDE:
            raise CommandError(
                f"The cut-over is in phase {phase.word}: history was made from the copies. "
                "Step back to `beside` first (manage.py cutover back)."
            )
        done = import_file(file, by=by, report=report)
        if done.added:
            forget_backfill(done.sheets)
    return done
