"""Copies from a file: all of it or nothing, each fault named, and the same file twice is the file once."""

import json
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from gradebook.models import Column, Mark, MarkSheet, MarkSnapshot, User
from gradebook.snapshots.phases import Phase
from outbox.models import Event
from projections.history.queries import list_sheet_history
from projections.models import BackfillCheckpoint, BackfilledMark, MarkHistory
from tests import factories
from tests.cutover.copies import backfill, enter, steps
from tests.cutover.old_class import catch_up
from tests.gradebook.marks import save
from tests.people import World

__all__ = ["catch_up"]
pytestmark = pytest.mark.django_db(transaction=True)
Line = Callable[..., dict[str, Any]]


@pytest.fixture
def line(world: World, student: User, other_student: User) -> Line:
    """A line of the file, about the fixed people's class."""

    def make(minute: int = 0, cells: Any = None, **changes: Any) -> dict[str, Any]:
        return {
            "id": f"old-{minute}",
            "school": "Hill School",
            "period": world.period.name,
            "course": world.course.code,
            "class": world.school_class.name,
            "action": "saved",
            "created_at": f"2024-09-02T08:{minute:02}:00+03:00",
            "created_by": "teacher",
            "columns": [
                {"title": "Essay", "max_points": "20", "category": "Written"},
                {"title": "Quiz", "max_points": 10},
            ],
            "categories": [{"name": "Written", "weight": "60.50"}],
            "cells": {"student": {"Essay": "7.5"}} if cells is None else cells,
        } | changes

    return make


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of these lines; a text or bytes is a line as it is."""

    def run(*lines: Any) -> Path:
        file = tmp_path / "copies.jsonl"
        raw = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in lines]
        file.write_bytes(b"\n".join(raw) + b"\n")
        return file

    return run


def run(*arguments: object) -> str:
    output = StringIO()
    call_command("import_snapshots", *map(str, arguments), stdout=output)
    return output.getvalue()


def count_all() -> list[int]:
    return [model.objects.count() for model in (MarkSnapshot, MarkSheet, Column, Mark, Event)]


def test_a_file_becomes_copies_columns_and_marks(
    world: World, line: Line, write: Callable[..., Path], teacher: User, student: User, other_student: User
) -> None:
    file = write(
        line(1, {"student": {"Essay": 5}}),
        line(2, {"student": {"Essay": "7.50", "Quiz": "Absent"}, "other_student": {"Essay": None}}),
        line(0, {}, columns=[{"title": "Gone", "max_points": "5"}]),
    )
    assert run(file, "--by", "teacher") == "3 copies of 1 sheets added; 3 marks taken over.\n"
    essay, quiz = world.sheet.columns.order_by("position")
    assert [(essay.title, essay.max_points), (quiz.title, quiz.max_points)] == [
        ("Essay", Decimal(20)),
        ("Quiz", Decimal(10)),
    ]
    newest = MarkSnapshot.objects.latest("created_at")
    assert newest.cells == {
        str(student.pk): {
            str(essay.pk): {"value": "7.5", "source": "teacher"},
            str(quiz.pk): {"code": "absent", "source": "teacher"},
        },
        str(other_student.pk): {str(essay.pk): {"source": "teacher"}},
    }
    assert newest.layout == {
        "columns": [
            {"id": str(essay.pk), "title": "Essay", "max_points": "20", "category": "Written"},
            {"id": str(quiz.pk), "title": "Quiz", "max_points": "10"},
        ],
        "categories": [{"name": "Written", "weight": "60.5"}],
        "students": [{"id": str(person.pk), "name": person.full_name} for person in (student, other_student)],
    }
    assert (newest.created_by_id, newest.created_by_name, newest.batch_id) == (
        teacher.pk,
        teacher.full_name,
        None,
    )
    assert set(Mark.objects.values_list("value", "code", "version")) == {
        (None, "", 1),
        (None, "absent", 1),
        (Decimal("7.5"), "", 1),
    }
    carried = Event.objects.filter(kind="MarkChanged")
    assert {(event.payload["reason"], event.actor_type) for event in carried} == {("carried_over", "import")}


def test_what_was_taken_over_is_no_line_of_history_but_its_copies_are(
    world: World, line: Line, write: Callable[..., Path], teacher: User, catch_up: Callable[[], None]
) -> None:
    run(write(line(1, {"student": {"Essay": "5"}}), line(2, {"student": {"Essay": "6"}})), "--by", "teacher")
    catch_up()
    assert MarkHistory.objects.count() == 0
    backfill()
    assert steps(list_sheet_history(sheet_id=world.sheet.pk).lines) == [
        ("typed", "5", "6"),
        ("typed", "", "5"),
    ]


def test_the_same_file_again_adds_nothing(line: Line, write: Callable[..., Path], teacher: User) -> None:
    file = write(line(1), line(2, {"student": {"Essay": "8"}}))
    run(file, "--by", "teacher")
    before = count_all()
    assert (
        run(file, "--by", "teacher")
        == "0 copies of 1 sheets added, 2 were here already; 0 marks taken over.\n"
    )
    assert count_all() == before


def test_a_check_writes_nothing(line: Line, write: Callable[..., Path], teacher: User) -> None:
    before = count_all()
    assert run(write(line(1)), "--check") == "1 copies, nothing is wrong with them. Nothing was changed.\n"
    assert count_all() == before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"school": "Lost School"}, "There is no school Lost School. Create it first"),
        ({"period": "Never"}, "There is no term Never in Hill School. Create it first."),
        ({"course": "X1"}, "There is no course with the code X1 in Hill School."),
        ({"class": "13Z"}, "There is no class 13Z in Hill School."),
        (
            {"cells": {"stranger": {"Essay": "5"}}},
            "There is no stranger in Hill School. Make the account first",
        ),
        ({"cells": {"student": {"Essay": "5,5"}}}, "The mark of student in 'Essay' is '5,5'. Write a number"),
        ({"cells": {"student": {"Essay": "1.2345"}}}, "is '1.2345'"),
        ({"cells": {"student": {"Essay": -1}}}, "is '-1'"),
        ({"cells": {"student": {"Essay": True}}}, "is 'True'"),
        ({"cells": {"student": {"Essay": "\u0000"}}}, "A NUL character cannot be stored."),
        (
            {"cells": {"student": {"Oral": "5"}}},
            "student has a mark in 'Oral', which is not among `columns`.",
        ),
        ({"cells": []}, "`cells` is missing or not an object."),
        (
            {"columns": [{"title": "Essay"}]},
            "The maximum of column 'Essay' is None. Give `max_points` above zero.",
        ),
        ({"categories": []}, "There is no 'Written' among `categories`. List it there, too."),
        (
            {"categories": [{"name": "Written"}]},
            "The weight of 'Written' is None. Give `weight` as a number from 0.",
        ),
        ({"categories": "Written"}, "`categories` is not a list of objects."),
        ({"columns": [{"title": "A", "max_points": 1}] * 2}, "Two columns have the same title."),
        (
            {"created_at": "2024-09-02T08:00:00"},
            "`created_at` is '2024-09-02T08:00:00'. Write date, time and UTC",
        ),
        ({"created_at": "9999-12-31T23:59:59-12:00"}, "of a year from 1900 to 2199."),
        ({"created_at": "0001-01-01T00:00:00+14:00"}, "of a year from 1900 to 2199."),
        ({"action": "x" * 21}, "`action` has 21 characters. At most 20 fit."),
        ({"id": ""}, "`id` is missing or not a text."),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_imported(
    changes: dict[str, Any], said: str, line: Line, write: Callable[..., Path], teacher: User
) -> None:
    before = count_all()
    with pytest.raises(CommandError) as refused:
        run(write(line(1), line(2), line(3, **changes)), "--by", "teacher")
    assert str(refused.value).startswith("Nothing was imported.\nline 3: ")
    assert said in str(refused.value)
    assert count_all() == before


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"{", "line 2: This is not JSON"),
        (b"[1]", "line 2: This is not a JSON object."),
        (b'{"id": "\xff"}', "line 2: This is not JSON"),
        (b'{"id": NaN}', "line 2: NaN is no mark."),
        (b'{"id": "\\ud83d"}', "line 2: Half a surrogate pair cannot be stored."),
        (b'{"id": "1", "id": "2"}', "line 2: 'id' comes twice in one object."),
        (b"[" * 100_000, "line 2: This is not JSON"),
        (b"\0[\0001\0]\0", "line 2: This is not JSON"),
    ],
    ids=["cut off", "a list", "not UTF-8", "NaN", "half a character", "a name twice", "deep", "UTF-16"],
)
def test_what_is_no_line_is_named(
    raw: bytes, said: str, line: Line, write: Callable[..., Path], teacher: User
) -> None:
    with pytest.raises(CommandError, match=said.replace("(", r"\(")):
        run(write(line(1), raw, line(2)), "--check")


def test_all_bad_lines_are_named_at_once_up_to_twenty(
    line: Line, write: Callable[..., Path], teacher: User
) -> None:
    with pytest.raises(CommandError) as refused:
        run(write(*(line(minute % 60, school="Lost") for minute in range(30))), "--check")
    assert [text.partition(":")[0] for text in str(refused.value).splitlines()[1:]] == [
        f"line {number}" for number in range(1, 21)
    ]


def test_a_copy_that_says_something_else_under_the_same_id_is_refused(
    line: Line, write: Callable[..., Path], teacher: User
) -> None:
    run(write(line(1)), "--by", "teacher")
    before = count_all()
    with pytest.raises(CommandError, match="line 2: A copy of this id is here already"):
        run(write(line(2), line(1, {"student": {"Essay": "9"}})), "--by", "teacher")
    assert count_all() == before


def test_marks_that_are_here_stay_and_the_gate_names_them(
    world: World, line: Line, write: Callable[..., Path], teacher: User, student: User
) -> None:
    column = factories.column(world.sheet, title="Essay", max_points=20)
    save(column, student, "3", by=teacher)
    run(write(line(1)), "--by", "teacher")
    assert [plain.value for plain in Mark.objects.all()] == [3]
    with pytest.raises(CommandError, match="Stays in phase none"):
        call_command("cutover", "advance", stdout=StringIO())


def test_a_locked_term_takes_nothing_over(
    world: World, line: Line, write: Callable[..., Path], teacher: User
) -> None:
    world.period.locked_at = "2024-12-01T00:00:00Z"
    world.period.save()
    before = count_all()
    with pytest.raises(CommandError, match="Nothing was imported"):
        run(write(line(1)), "--by", "teacher")
    assert count_all() == before


def test_more_copies_of_a_sheet_void_what_was_backfilled_from_those_before(
    line: Line, write: Callable[..., Path], teacher: User
) -> None:
    run(write(line(2)), "--by", "teacher")
    backfill()
    assert BackfilledMark.objects.count() == 1
    run(write(line(1, {"student": {"Essay": "1"}})), "--by", "teacher")
    assert (BackfilledMark.objects.count(), BackfillCheckpoint.objects.count()) == (0, 0)


def test_nothing_is_imported_once_history_is_made_of_the_copies(
    line: Line, write: Callable[..., Path], teacher: User
) -> None:
    enter(Phase.BACKFILL)
    with pytest.raises(CommandError, match="Step back to `beside` first"):
        run(write(line(1)), "--by", "teacher")


def test_a_sheet_changed_here_since_the_cutover_began_takes_no_older_copies(
    world: World, line: Line, write: Callable[..., Path], teacher: User, student: User
) -> None:
    enter(Phase.BESIDE)
    save(factories.column(world.sheet), student, "3", by=teacher)
    with pytest.raises(CommandError, match="This sheet has been changed here since the cut-over began"):
        run(write(line(1)), "--check")


def test_memory_does_not_grow_with_the_file(line: Line, write: Callable[..., Path], teacher: User) -> None:
    """Ten times the lines, about the same peak; the full size is in test_full_size.py."""
    peaks = []
    for number in (20, 200):
        filler = {"note": "x" * 20_000}
        file = write(*(line(minute % 60, id=f"{number}-{minute}", **filler) for minute in range(number)))
        tracemalloc.start()
        run(file, "--by", "teacher")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 3 * 2**20


def test_a_file_that_cannot_be_read_is_named(teacher: User) -> None:
    for file, why in (("/nowhere", "There is no file"), ("/proc/self/mem", "cannot be read: ")):
        with pytest.raises(CommandError, match=why):
            run(Path(file), "--by", "teacher")
