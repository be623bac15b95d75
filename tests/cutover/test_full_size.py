"""What the cut-over promises, at the figures of its issue. Minutes long: only in `make chaos`."""

import json
import random
import re
import sys
import time
from pathlib import Path

import pytest

from gradebook.models import MarkSnapshot, User
from gradebook.snapshots.phases import Phase
from tests import factories
from tests.cutover.copies import enter
from tests.cutover.killing import (
    count_compared,
    list_expected,
    list_found,
    run_until_killed,
    write_many_copies,
)
from tests.cutover.test_gates import check_one_wrong_cell
from tests.people import World
from tests.processes.running import Running

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.chaos, pytest.mark.timeout(3_600)]
KILLS = 50
MANY = 100_000  # copies: a run gets through a chunk or two before it is killed
COPIES, STUDENTS, COLUMNS = 20_000, 30, 20
MOST_MEMORY = 200 * 2**20


def test_a_backfill_killed_at_fifty_random_moments_ends_as_one_clean_run(
    world: World, process_environment: dict[str, str], tmp_path: Path
) -> None:
    """M1. Each run is killed at a random moment of its first chunks, in the middle of a transaction as often as between two."""
    write_many_copies(world.sheet, MANY)
    enter(Phase.BACKFILL)
    dice = random.Random(1)
    for _ in range(KILLS):
        at_work = _AtWork(count_compared(), dice.uniform(0, 0.05))
        assert not run_until_killed(process_environment, tmp_path / "log", after=at_work, rate="100000")
    assert 0 < count_compared() < MANY
    assert run_until_killed(process_environment, tmp_path / "log", after=lambda: False, rate="100000")
    assert list_found() == list_expected(world.sheet)


class _AtWork:
    """True some time after the checkpoint has moved past where it was."""

    def __init__(self, before: int, seconds: float) -> None:
        self._before = before
        self._seconds = seconds
        self._moved_at = float("inf")

    def __call__(self) -> bool:
        """Look at the checkpoint, and at the clock."""
        if self._moved_at == float("inf") and count_compared() > self._before:
            self._moved_at = time.monotonic()
        return time.monotonic() >= self._moved_at + self._seconds


def test_one_wrong_cell_in_a_hundred_thousand_is_found_and_named(world: World, teacher: User) -> None:
    """M3."""
    check_one_wrong_cell(world, teacher, sheets=200)


def test_twenty_thousand_copies_of_six_hundred_cells_are_imported_in_bounded_memory(
    world: World, teacher: User, process_environment: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "copies.jsonl"
    write_file(world, file, copies=COPIES)
    with Running(
        "import_snapshots",
        str(file),
        "--by",
        "teacher",
        environment=process_environment,
        log=tmp_path / "log",
    ) as process:
        most = 0
        while not process.has_ended:
            most = max(most, read_peak(process.pid) or most)
            time.sleep(0.2)
        assert process.wait() == 0, process.output
    assert MarkSnapshot.objects.count() == COPIES
    sys.stdout.write(f"\n  {most / 2**20:.0f} MiB at most\n")
    assert 0 < most <= MOST_MEMORY


def read_peak(pid: int) -> int:
    """Return the most memory a process has had so far, in bytes; 0 when it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


def write_file(world: World, file: Path, *, copies: int) -> None:
    """Write a file of whole classes, 862 copies each."""
    names = []
    for _ in range(-(-copies // 862)):
        group = factories.school_class(world.school)
        factories.assignment(User.objects.get(username="teacher"), group, world.course, world.period)
        names.append(group.name)
    students = [factories.student(world.school).username for _ in range(STUDENTS)]
    columns = [{"title": f"Column {number}", "max_points": 20} for number in range(COLUMNS)]
    with file.open("w") as lines:
        for number in range(copies):
            cells = {
                student: {
                    column["title"]: str((number * place + row) % 21) for row, column in enumerate(columns)
                }
                for place, student in enumerate(students, start=1)
            }
            copy = {
                "id": str(number),
                "school": world.school.name,
                "period": world.period.name,
                "course": world.course.code,
                "class": names[number // 862],
                "action": "saved",
                "created_at": f"2024-{1 + number % 862 // 80:02}-{1 + number % 80 // 3:02}T{8 + number % 3:02}:00:00+00:00",
                "created_by": "teacher",
                "columns": columns,
                "cells": cells,
            }
            lines.write(json.dumps(copy) + "\n")
