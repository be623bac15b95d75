"""A backfill in a process of its own, killed again and again; what it leaves must be what one clean run leaves."""

import datetime as dt
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import transaction

from gradebook.models import MarkSheet, MarkSnapshot
from gradebook.snapshots.reading import walk_copies_back
from projections.backfill.lines import draw_lines
from projections.models import BackfillCheckpoint, BackfilledMark
from tests.cutover.copies import LONG_AGO, a_cell
from tests.processes.running import Running
from tests.waiting import wait_until

COLUMN = UUID(int=11)
MORE = 10_000_000


def write_many_copies(sheet: MarkSheet, number: int) -> None:
    """Write so many copies of five students; each differs from the one before it in one or two cells."""
    dice = random.Random(7)
    texts = dict.fromkeys((str(UUID(int=student)) for student in range(1, 6)), "1")
    copies = []
    for minute in range(number):
        for student in dice.sample(sorted(texts), k=dice.choice([1, 1, 2])):
            texts[student] = dice.choice(["", "absent", str(dice.randrange(10))])
        copies.append(
            MarkSnapshot(
                school_id=sheet.school_id,
                sheet=sheet,
                action="saved",
                created_at=LONG_AGO + dt.timedelta(minutes=minute),
                created_by_name="Old Teacher",
                layout={"columns": [{"id": str(COLUMN), "title": "Essay"}], "students": []},
                cells={student: {str(COLUMN): a_cell(text)} for student, text in texts.items()},
            )
        )
    MarkSnapshot.objects.bulk_create(copies, batch_size=500)


def list_expected(sheet: MarkSheet) -> list[dict[str, Any]]:
    """Return the lines one clean run gives, in order of place."""
    with transaction.atomic():
        lines = list(draw_lines(walk_copies_back(sheet.pk, upto=None, most=MORE)))
    names = [field.attname for field in BackfilledMark._meta.concrete_fields]
    return [{name: getattr(line, name) for name in names} for line in reversed(lines)]


def list_found() -> list[dict[str, Any]]:
    """Return what the table holds, in order of place."""
    return [dict(row) for row in BackfilledMark.objects.order_by("pos").values()]


def count_compared() -> int:
    """Return how many copies the checkpoint counts."""
    return sum(BackfillCheckpoint.objects.values_list("copies", flat=True))


def run_until_killed(environment: dict[str, str], log: Path, *, after: Callable[[], bool], rate: str) -> bool:
    """Start a backfill, and kill it as soon as this is so; return whether it was over before."""
    with Running("cutover", "backfill", "--rate", rate, environment=environment, log=log) as process:
        wait_until(lambda: process.has_ended or after(), seconds=60, look=0.005)
        if process.has_ended:
            assert process.wait() == 0, process.output
            return True
        process.send(signal.SIGKILL)
        process.wait()
    return False
