"""`manage.py import_exam FILE.gift`: a file of questions becomes a revision of an exam, all of it or nothing."""

import datetime as dt
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from exams.gift import GiftPaper, GiftRefused, read_gift
from exams.models import Exam, ExamRevision, ExamTarget
from exams.models.exams import FIRST_YEAR, LAST_YEAR, LONGEST_TIME_LIMIT
from exams.services.authoring import publish_revision, start_revision
from gradebook.models import Course, Period, Role, SchoolClass, User
from outbox.management.teaching import TeachingCommand, utf8

REFUSED, NOT_FOUND = 1, 2
_NEW_EXAM = ("title", "course", "opens_at", "closes_at")


class Command(TeachingCommand):
    """Arguments and wiring; reading is in `exams.gift`, writing in `exams.services.authoring`."""

    help = """\
Reads questions in Moodle's GIFT format: single and multiple choice with weights, true/false, numeric with tolerance and ranges, short
text, matching, essays, a missing word. Whatever cannot be graded right (an unknown type, weights that do not add up, no right answer)
is named by line and title, and then nothing of the file is taken over.

  look only           manage.py import_exam physics.gift --check
  into an exam        manage.py import_exam physics.gift --exam 0193c5a4-...
                      (becomes its next revision; published ones never change)
  with a new exam     manage.py import_exam physics.gift --title "Physics, spring" --course PHY9 --class 9B \\
                          --opens-at 2027-03-01T09:00 --closes-at 2027-03-01T11:00 --time-limit 45 --publish

Times without an offset are the school's own. Without --publish the revision waits in the admin, where it can be edited and previewed.
Exit code 1: the file was refused. 2: something named here does not exist, or arguments are missing."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say which file, and what it becomes part of."""
        parser.add_argument(
            "file", type=Path, metavar="FILE.gift", help="UTF-8, with or without a byte order mark"
        )
        parser.add_argument("--check", action="store_true", help="read and report, write nothing")
        parser.add_argument(
            "--shuffle", action="store_true", help="put choices into another order, once and for all"
        )
        parser.add_argument("--publish", action="store_true", help="publish the revision at once")
        parser.add_argument("--by", type=utf8, metavar="USERNAME", help="who publishes it, for the record")
        parser.add_argument("--exam", type=UUID, metavar="ID", help="add the next revision to this exam")
        new = parser.add_argument_group("a new exam")
        new.add_argument("--title", type=_title)
        new.add_argument("--course", type=utf8, metavar="CODE")
        new.add_argument(
            "--school", type=utf8, metavar="NAME", help="where several schools have a course of that code"
        )
        new.add_argument(
            "--period", type=utf8, metavar="NAME", help="default: the school's period in which the exam opens"
        )
        new.add_argument(
            "--class",
            dest="classes",
            action="append",
            type=utf8,
            default=[],
            metavar="NAME",
            help="who sits it",
        )
        new.add_argument("--opens-at", type=_moment, metavar="TIME", help="like 2027-03-01T09:00")
        new.add_argument("--closes-at", type=_moment, metavar="TIME")
        new.add_argument("--time-limit", type=_minutes, metavar="MINUTES", help="from a student's own start")
        new.add_argument("--attempts", type=int, default=1, help="how often each student may try (default 1)")

    def handle(self, **options: Any) -> None:
        """Read, report, and unless --check, write."""
        paper = self._read(options["file"])
        if options["shuffle"]:
            paper = paper.shuffled()
        self._report(paper)
        if not options["check"]:
            self._write(paper, options)

    def _read(self, file: Path) -> GiftPaper:
        try:
            return read_gift(file.read_bytes())
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.", returncode=NOT_FOUND) from None
        except GiftRefused as refused:
            for fault in refused.faults:
                self.stderr.write(str(fault))
            count = len(refused.faults)
            message = f"{file} was not imported: {count} fault{'s'[: count != 1]}."
            raise CommandError(message, returncode=REFUSED) from None

    def _report(self, paper: GiftPaper) -> None:
        kinds = [question.kind for question in paper.questions]
        counts = ", ".join(f"{kinds.count(kind)} {kind.replace('_', ' ')}" for kind in dict.fromkeys(kinds))
        self.stdout.write(
            f"{len(kinds)} question{'s'[: len(kinds) != 1]}, {paper.points:f} points: {counts}."
        )
        for note in paper.notes:
            self.stdout.write(f"Note: {note}")

    def _write(self, paper: GiftPaper, options: dict[str, Any]) -> None:
        with transaction.atomic():
            exam = _get_exam(options["exam"]) if options["exam"] else _create_exam(options)
            revision = start_revision(exam=exam, instructions=paper.instructions, questions=paper.questions)
            if options["publish"]:
                publish_revision(revision=revision, by=_find_person(options["by"]))
        self._tell(revision, is_published=options["publish"])

    def _tell(self, revision: ExamRevision, *, is_published: bool) -> None:
        state = (
            "published"
            if is_published
            else f"to be looked at: /admin/exams/examrevision/{revision.pk}/change/"
        )
        self.stdout.write(self.style.SUCCESS(f"Exam {revision.exam_id}, revision {revision.number}, {state}"))


def _title(text: str) -> str:
    return utf8(text).strip()


def _moment(text: str) -> dt.datetime:
    """Read a time; its year is judged here already, because Python's calendar ends before the first conversion would."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a time like 2027-03-01T09:00") from None
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ArgumentTypeError(f"{text!r} is not in a year from {FIRST_YEAR} to {LAST_YEAR}")
    return moment


def _minutes(text: str) -> dt.timedelta:
    most = LONGEST_TIME_LIMIT // dt.timedelta(minutes=1)
    if not (text.isdecimal() and 1 <= int(text[:9]) <= most):
        raise ArgumentTypeError(f"{text!r} is not a whole number of minutes from 1 to {most}")
    return dt.timedelta(minutes=int(text))


def _get_exam(exam_id: UUID) -> Exam:
    exam = Exam.objects.filter(pk=exam_id).first()
    if exam is None:
        raise CommandError(f"There is no exam {exam_id}.", returncode=NOT_FOUND)
    return exam


def _create_exam(options: dict[str, Any]) -> Exam:
    missing = [f"--{name.replace('_', '-')}" for name in _NEW_EXAM if not options[name]]
    if missing:
        needed = ", ".join(missing)
        raise CommandError(
            f"Say --exam ID, or for a new exam also {needed}; or only --check.", returncode=NOT_FOUND
        )
    course = _find_course(options["course"], options["school"])
    opens_at, closes_at = (_localise(options[name], course) for name in ("opens_at", "closes_at"))
    exam = Exam(
        school=course.school,
        course=course,
        period=_find_period(course, options["period"], opens_at),
        title=options["title"],
        opens_at=opens_at,
        closes_at=closes_at,
        time_limit=options["time_limit"],
        attempts_allowed=options["attempts"],
    )
    try:
        exam.full_clean()
    except ValidationError as error:
        raise CommandError(" ".join(error.messages), returncode=NOT_FOUND) from None
    exam.save()
    for name in dict.fromkeys(options["classes"]):
        ExamTarget.objects.create(exam=exam, school_class=_find_class(course, name))
    return exam


def _find_course(code: str, school: str | None) -> Course:
    found = Course.objects.filter(code=code).select_related("school")
    courses = list(found.filter(school__name=school) if school else found)
    if not courses:
        raise CommandError(
            f"There is no course {code}{f' at {school}' if school else ''}.", returncode=NOT_FOUND
        )
    if len(courses) > 1:
        names = ", ".join(sorted(course.school.name for course in courses))
        raise CommandError(
            f"Several schools have a course {code}; say --school: {names}.", returncode=NOT_FOUND
        )
    return courses[0]


def _find_period(course: Course, name: str | None, opens_at: dt.datetime) -> Period:
    day = opens_at.astimezone(ZoneInfo(course.school.time_zone)).date()
    periods = Period.objects.filter(school=course.school)
    found = periods.filter(name=name) if name else periods.filter(starts_on__lte=day, ends_on__gte=day)
    period = found.order_by("-starts_on").first()
    if period is None:
        wanted = f"called {name}" if name else f"on {day}; say --period"
        raise CommandError(f"{course.school} has no period {wanted}.", returncode=NOT_FOUND)
    return period


def _find_class(course: Course, name: str) -> SchoolClass:
    school_class = SchoolClass.objects.filter(school=course.school, name=name).first()
    if school_class is None:
        raise CommandError(f"{course.school} has no class {name}.", returncode=NOT_FOUND)
    return school_class


def _find_person(username: str | None) -> User | None:
    person = User.objects.filter(username=username).first() if username else None
    if username and person is None:
        raise CommandError(f"There is nobody called {username}.", returncode=NOT_FOUND)
    if person and person.role == Role.STUDENT:
        raise CommandError(
            f"{username} is a student; a paper is published by a teacher or an administrator.",
            returncode=NOT_FOUND,
        )
    return person


def _localise(moment: dt.datetime, course: Course) -> dt.datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(course.school.time_zone))
