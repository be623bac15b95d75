"""`manage.py load_demo`: a believable school to try Handover with."""

import datetime as dt
import random
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.management.base import CommandError
from django.db import transaction
from rich.console import Console
from rich.progress import Progress

from config.demo.exams import DemoExams, create_exams, sit_exams
from config.demo.marks import fill_sheet
from config.demo.plan import SCHOOLS, SchoolPlan
from config.demo.structure import DemoSchool, People, create_school, share_students
from gradebook.models import User
from outbox.db import database_now
from outbox.management.teaching import TeachingCommand

PASSWORD = "handover-demo"  # noqa: S105 - known to everybody on purpose; refused outside DEBUG
MOST_STUDENTS = 50_000

HELP = """Make a believable school to try Handover with, in an empty database.

Two schools with classes, teachers, mark sheets and marks with history, and three exams in each: one that ends
two minutes from now with its submissions, one open for some hours, one in two days. Everything goes through the
services people use, so receipts and history are real; a running worker grades what was handed in.

Accounts: admin, teacher1, teacher2, ..., student1, student2, ...; the password of all is handover-demo. Because
everybody knows it, this is refused unless DEBUG is on or --allow-known-passwords is given.

  manage.py load_demo                            60 students, always the same ones
  manage.py load_demo --students 500 --seed 7    a larger school, other people

Exit codes: 0 made; 1 refused (the message says why; nothing was written).
"""


class Command(TeachingCommand):
    """Arguments and wiring; the work is in config.demo."""

    help = HELP

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "--students", type=int, default=60, help="how many students, in both schools (60)"
        )
        parser.add_argument(
            "--seed", type=int, default=1, help="the same seed gives the same people and marks (1)"
        )
        parser.add_argument(
            "--allow-known-passwords",
            action="store_true",
            help="make accounts with a known password outside DEBUG",
        )

    def handle(self, *, students: int, seed: int, allow_known_passwords: bool, **_: Any) -> None:
        """Check, make, and say who to be."""
        _refuse(students, allowed=settings.DEBUG or allow_known_passwords)
        submissions = _make(students, random.Random(seed))  # noqa: S311 - a repeatable draw is the point
        self.stdout.write(
            f"Made {students} students in {len(SCHOOLS)} schools, {submissions} submissions among them.\n"
            f"Sign in as admin, teacher1 or student1 with the password {PASSWORD}."
        )


def _refuse(students: int, *, allowed: bool) -> None:
    if not allowed:
        raise CommandError(
            "The demo's password is known to everybody. Set DEBUG=true, or give --allow-known-passwords."
        )
    if not 1 <= students <= MOST_STUDENTS:
        raise CommandError(f"--students must be between 1 and {MOST_STUDENTS}.")
    if User.objects.exists():
        raise CommandError(
            "There are people in this database already; the demo is only loaded into an empty one. "
            "Choose another one with DATABASE_URL or HANDOVER_DATA."
        )


def _make(students: int, dice: random.Random) -> int:
    """Make everything, and return how many submissions there are.

    What is set up commits first: students hand in over a connection of their own, as in the product.
    """
    now = database_now()
    people = People(dice=dice, password_hash=make_password(PASSWORD))
    steps = list(share_students(students, SCHOOLS))
    with Progress(console=Console(stderr=True), transient=True) as progress:
        with transaction.atomic():
            people.create_admin()
            made = [
                _set_up(plan, count, people, now, dice)
                for plan, count in progress.track(steps, description="Schools, people and marks")
            ]
        return sum(
            sit_exams(school=school, exams=exams, dice=dice)
            for school, exams in progress.track(made, description="Exams handed in")
        )


def _set_up(
    plan: SchoolPlan, students: int, people: People, now: dt.datetime, dice: random.Random
) -> tuple[DemoSchool, DemoExams]:
    school = create_school(plan, students=students, people=people, today=now.date())
    for group in school.classes:
        for course in plan.courses:
            fill_sheet(group=group, course=course, dice=dice)
    return school, create_exams(school=school, now=now)
