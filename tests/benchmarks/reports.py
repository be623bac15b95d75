"""Totals of a whole term after a few marks changed, and report cards as PDF.

The reference of a recalculation is what a system does that works everything out and writes everything. Counts do not depend on the
machine; the seconds and the memory of printing are figures for planning, against what an evening's batch may take.
"""

import datetime as dt
import random
from collections.abc import Iterator
from decimal import Decimal

import psutil
from uuid_utils.compat import uuid7

from gradebook.cards.pdf import Printer
from gradebook.models import (
    Column,
    Course,
    Mark,
    MarkSheet,
    MarkSource,
    Period,
    Role,
    School,
    SchoolClass,
    StoredTotal,
    User,
)
from gradebook.services.totals import recalculate_term
from tests.benchmarks.harness import BenchDatabase, run, timed
from tests.benchmarks.results import Row

CLASSES = 1_000
STUDENTS = 20  # a class
COLUMNS = 5
SHARE_CHANGED = 0.01
CARDS = 500
EVENING_SECONDS = 60.0
PRINTER_MIB = 200.0
MEBIBYTE = 1024 * 1024


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Measure both."""
    term = make_term()
    database.vacuum()
    total = CLASSES * STUDENTS
    first = timed(lambda: recalculate_term(period_id=term.pk))
    assert StoredTotal.objects.count() == total
    change_some_marks()
    again = timed(lambda: recalculate_term(period_id=term.pk))
    moved = StoredTotal.objects.exclude(cause="first").count()
    assert moved
    yield Row.of("totals written after 1 % of the marks changed : all", moved, total, reach=0.1, at_most=True)
    yield Row.of(
        "seconds to recalculate 1,000 classes then : writing all", again, first, reach=1, at_most=True
    )
    seconds, peak = print_cards()
    yield Row.of("500 report cards as PDF, seconds : 60", seconds, EVENING_SECONDS, reach=1, at_most=True)
    yield Row.of("500 report cards as PDF, MiB more : 200", peak, PRINTER_MIB, reach=1, at_most=True)


def make_term() -> Period:
    """Make a school of many classes with marks."""
    school = School.objects.create(name="Large School")
    today = dt.datetime.now(tz=dt.UTC).date()
    term = Period.objects.create(school=school, name="Term", starts_on=today, ends_on=today)
    course = Course.objects.create(school=school, code="M", title="Mathematics")
    teacher = User.objects.create(username="teacher", school=school, role=Role.TEACHER)
    classes = SchoolClass.objects.bulk_create(
        SchoolClass(school=school, name=f"{number}") for number in range(CLASSES)
    )
    sheets = MarkSheet.objects.bulk_create(
        MarkSheet(school=school, period=term, course=course, school_class=each) for each in classes
    )
    people = User.objects.bulk_create(
        User(username=f"s{number}", school=school, role=Role.STUDENT) for number in range(CLASSES * STUDENTS)
    )
    columns = Column.objects.bulk_create(
        Column(sheet=sheet, title=f"{number}", max_points=20, position=number)
        for sheet in sheets
        for number in range(COLUMNS)
    )
    chance = random.Random(20261130)
    now = dt.datetime.now(tz=dt.UTC)
    Mark.objects.bulk_create(
        (
            Mark(
                id=uuid7(),
                school_id=school.pk,
                sheet_id=column.sheet_id,
                column=column,
                student=people[place // COLUMNS * STUDENTS + number],
                value=Decimal(chance.randint(0, 40)) / 2,
                source=MarkSource.TEACHER,
                version=1,
                shown_version=1,
                updated_at=now,
                updated_by=teacher,
            )
            for place, column in enumerate(columns)
            for number in range(STUDENTS)
        ),
        batch_size=5_000,
    )
    return term


def change_some_marks() -> None:
    """Give one mark of a hundred another value."""
    ids = list(Mark.objects.order_by("id").values_list("pk", flat=True))
    chosen = random.Random(7).sample(ids, int(len(ids) * SHARE_CHANGED))
    marks = list(Mark.objects.filter(pk__in=chosen))
    for mark in marks:
        assert mark.value is not None
        mark.value = (mark.value + Decimal("7.5")) % 20
    Mark.objects.bulk_update(marks, ["value"], batch_size=500)


def print_cards() -> tuple[float, float]:
    """Print cards of eight courses; return the seconds and how many MiB the process grew by at most."""
    process = psutil.Process()
    at_rest, peak = process.memory_info().rss, 0
    printer = Printer("report_card")

    def work() -> None:
        nonlocal peak
        for number in range(CARDS):
            assert printer.print(draw_card(number)).startswith(b"%PDF")
            peak = max(peak, process.memory_info().rss)

    return timed(work), (peak - at_rest) / MEBIBYTE


def draw_card(number: int) -> dict[str, object]:
    """Return a card as `gradebook.services.cards.describe_card` does."""
    marks = [
        {"title": f"Test {place}", "mark": str(place + 9), "out_of": "20", "part": "counted"}
        for place in range(6)
    ]
    courses = [
        {
            "code": f"C{place}",
            "course": f"Course {place}",
            "state": "result",
            "total": "71.83",
            "letter": "C",
            "marks": marks,
        }
        for place in range(8)
    ]
    content = {
        "school": "Large School",
        "term": "Term",
        "school_class": "9B",
        "student": f"Student {number}",
        "courses": courses,
    }
    return {
        "content": content,
        "issued_at": "2026-11-30 12:00 UTC",
        "token": "2",
        "position": "0.0.1",
        "checksum": "0" * 64,
        "code": f"{number:026}",
        "verify_url": "http://127.0.0.1:8000/verify/",
        "difference": [],
    }


if __name__ == "__main__":
    run("reports", measure)
