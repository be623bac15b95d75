"""`manage.py import_marks`: put the marks of a file into a mark sheet, whole or not at all."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from gradebook.errors import GradebookError
from gradebook.imports.heads import HeadWishes
from gradebook.imports.importing import ImportRefused, apply_import, prepare_import, require_sound
from gradebook.imports.plans import Plan, PlannedChange, Wishes
from gradebook.imports.workbooks import WorksheetNotNamed
from gradebook.models import Column, MarkSheet, User
from outbox.management.teaching import TeachingCommand, read_file

HELP = """Put the marks of a CSV file or an Excel workbook into a mark sheet, whole or not at all.

The first row names the columns: one holds the students' user names, the others marks. Columns of the sheet are meant by
their id, which is in the address of the page where a column is edited; the header is the column's title, or what you say.

  manage.py import_marks marks.csv --by anna --column 0199a1b2-… --dry-run
  manage.py import_marks marks.csv --by anna --column "0199a1b2-…=Midterm (Real)" --column 0199a1b3-…
  manage.py import_marks "year 7.xlsx" --worksheet 7b --by anna --column 0199a1b2-…
  manage.py import_marks export.csv --by anna --column 0199a1b2-… --students "SIS Login ID" --decimal-sign ,

CSV with comma, semicolon or tab, in UTF-8. Marks are read by the rule of the grid. An empty value leaves the mark as it is; with
--clear-empty it takes it away. Every fault is named with its line; with one, nothing is imported. History says which file and line.

Exit codes: 0 imported, or nothing to change; 1 refused, nothing changed.
"""


class Command(TeachingCommand):
    """Arguments and wiring; the work is in gradebook.imports."""

    help = HELP

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("file", metavar="FILE", type=Path, help="CSV, or an Excel workbook (.xlsx)")
        parser.add_argument(
            "--by", required=True, metavar="USERNAME", help="the teacher whose marks these are"
        )
        parser.add_argument(
            "--column",
            required=True,
            action="append",
            metavar="ID[=HEADER]",
            help="may be said several times",
        )
        parser.add_argument(
            "--students", default="", metavar="HEADER", help="the column of user names (default: “username”)"
        )
        parser.add_argument(
            "--decimal-sign",
            choices=[".", ","],
            default=".",
            metavar="SIGN",
            help="of marks such as 1.234: . or , (default: .)",
        )
        parser.add_argument(
            "--worksheet", default="", metavar="NAME", help="which one of a workbook that has several"
        )
        parser.add_argument("--clear-empty", action="store_true", help="empty values take marks away")
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would change, and change nothing"
        )

    def handle(
        self, *, file: Path, by: str, column: list[str], students: str, dry_run: bool, **options: Any
    ) -> None:
        """Run it."""
        sheet, heads = _find_sheet(column, students)
        person = _find_person(by)
        wishes = Wishes(
            options["decimal_sign"],
            file.name,
            heads,
            is_clearing=options["clear_empty"],
            worksheet=options["worksheet"],
        )
        try:
            plan = prepare_import(sheet=sheet, data=read_file(file), wishes=wishes, by=person)
            require_sound(plan)
            number = 0 if dry_run else apply_import(sheet=sheet, plan=plan, by=person)
        except ImportRefused as refused:
            raise CommandError("\n".join([refused.detail, *map(str, refused.faults)])) from refused
        except WorksheetNotNamed as refused:
            raise CommandError(f"{refused.detail} Say it with --worksheet.") from refused
        except GradebookError as refused:
            raise CommandError(refused.detail) from refused
        for planned in plan.changes if dry_run else ():
            self.stdout.write(_describe(planned))
        self.stdout.write(_sum_up(plan, number, dry_run=dry_run))


def _find_sheet(texts: Sequence[str], student_head: str) -> tuple[MarkSheet, HeadWishes]:
    """Return the one sheet that all these columns are in, and the headers that were said for them."""
    said = [text.partition("=") for text in texts]
    try:
        ids = [UUID(column_id) for column_id, _, _ in said]
    except ValueError as error:
        raise CommandError(
            "A column is meant by its id, such as 0199a1b2-c3d4-7e5f-8a6b-000000000003."
        ) from error
    found = Column.objects.select_related("sheet").in_bulk(ids)
    if missing := [str(each) for each in ids if each not in found]:
        raise CommandError(f"There is no column {', '.join(missing)}.")
    sheets = {column.sheet_id: column.sheet for column in found.values()}
    if len(sheets) > 1:
        raise CommandError("These columns are of several mark sheets: import one at a time.")
    heads = {each: head for each, (_, _, head) in zip(ids, said, strict=True) if head}
    return sheets.popitem()[1], HeadWishes(frozenset(ids), heads, student_head)


def _find_person(username: str) -> User:
    person = User.objects.filter(username=username).first()
    if person is None:
        raise CommandError(f"There is nobody with the user name {username!r}.")
    return person


def _describe(planned: PlannedChange) -> str:
    old, new = (entry.text or "no mark" for entry in (planned.old, planned.new))
    return f"line {planned.line}: {planned.student.full_name}, {planned.column.title}: {old} → {new}"


def _sum_up(plan: Plan, number: int, *, dry_run: bool) -> str:
    done = f"Would change: {len(plan.changes)}" if dry_run else f"Imported: {number}"
    ignored = f" Not looked at: {', '.join(plan.ignored)}." if plan.ignored else ""
    return f"{done}. There already: {plan.unchanged}. Empty values: {plan.empty}.{ignored}"
