"""`manage.py make_legacy`: years of an old system's copies, to rehearse the cut-over with."""

import datetime as dt
import random
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from config.legacy.copies import write_legacy_copies
from config.legacy.school import SCHOOL, LegacySchool
from config.management.commands.load_demo import PASSWORD
from gradebook.models import Period, School
from gradebook.snapshots.carrying import carry_over_marks
from gradebook.snapshots.phases import Phase, get_phase
from outbox.db import database_now
from outbox.management.progress import progress_bar
from outbox.management.teaching import TeachingCommand

BUCKET = 862  # the copies of one class that the old system is remembered for
FEWEST, MOST = 40, 160
MOST_CLASSES, MOST_YEARS = 1_000, 20


class Command(TeachingCommand):
    """Arguments and wiring; the work is in `config.legacy`."""

    help = f"""\
Make years of whole-class copies as the old system wrote them, to rehearse the cut-over with.

One school, {SCHOOL}, with so many classes in each of so many years. A class has 30 students, 20 columns and {FEWEST} to {MOST} copies; one
class has {BUCKET}. What the newest copies say are the marks; all years but the last are locked, at generation 1.

Accounts: old-teacher1, old-teacher2, and old-student3 onwards; their password is the demo's, {PASSWORD}. Because everybody knows it,
this is refused unless DEBUG is on or --allow-known-passwords is given.

Exit codes: 0 made; 1 refused (the message says why; nothing was written)."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say how much, and whether known passwords are all right."""
        parser.add_argument("--classes", type=int, default=3, metavar="N", help="classes a year (3)")
        parser.add_argument("--years", type=int, default=2, metavar="Y", help="school years, up to now (2)")
        parser.add_argument("--seed", type=int, default=1, metavar="S", help="another seed, other marks (1)")
        parser.add_argument(
            "--allow-known-passwords", action="store_true", help="make the accounts outside DEBUG"
        )

    def handle(self, *, classes: int, years: int, seed: int, allow_known_passwords: bool, **_: Any) -> None:
        """Check, make, and say what was made."""
        _refuse(classes, years, allowed=settings.DEBUG or allow_known_passwords)
        dice = random.Random(seed)  # noqa: S311 - a repeatable draw is the point
        copies = 0
        with transaction.atomic(), progress_bar("classes", unit="classes") as report:
            for done, written in enumerate(_make(classes, years, dice), start=1):
                copies += written
                report(done, classes * years)
            _lock_past_years()
        self.stdout.write(f"Made {copies} copies of {classes * years} sheets in {SCHOOL}.")


def _make(classes: int, years: int, dice: random.Random) -> Iterator[int]:
    """Make everything, class by class, and yield how many copies each got."""
    school = LegacySchool(dice=dice, password_hash=make_password(PASSWORD))
    this_year = database_now().year
    for year in range(this_year - years, this_year):
        for place, group in enumerate(school.create_year(dt.date(year, 8, 15), classes=classes)):
            is_bucket = year == this_year - 1 and place == 0
            copies = BUCKET if is_bucket else dice.randint(FEWEST, MOST)
            write_legacy_copies(group, number=copies, dice=dice)
            carry_over_marks(sheet=group.sheet, by=group.teachers[0])
            yield copies


def _lock_past_years() -> None:
    """Lock every year but the last, as the old system left them: no event, and the generation every term has from the start."""
    terms = Period.objects.filter(school__name=SCHOOL).order_by("-starts_on")
    past = list(terms.values_list("id", flat=True)[1:])
    Period.objects.filter(pk__in=past).update(locked_at=database_now())


def _refuse(classes: int, years: int, *, allowed: bool) -> None:
    if not allowed:
        raise CommandError(
            "The password is known to everybody. Set DEBUG=true, or give --allow-known-passwords."
        )
    if not (1 <= classes <= MOST_CLASSES and 1 <= years <= MOST_YEARS):
        raise CommandError(f"--classes must be from 1 to {MOST_CLASSES}, --years from 1 to {MOST_YEARS}.")
    if School.objects.filter(name=SCHOOL).exists():
        raise CommandError(f"{SCHOOL} is here already.")
    if get_phase() is not Phase.NONE:
        raise CommandError("The cut-over has begun: copies of the old system had to come before.")
