"""The projector writes what the events say, once, in whatever order and however often it meets them."""

import random
from decimal import Decimal

import pytest

from projections.models import MarkHistory
from tests.projections.changes import Cell, brief, lines, project, record

pytestmark = pytest.mark.django_db(transaction=True)


def test_history_has_one_line_for_each_change_with_its_old_and_new_mark() -> None:
    cell = Cell()
    project(
        record(
            cell.change("5"), cell.change("7.5"), cell.change(code="absent"), cell.change(reason="cleared")
        )
    )
    assert brief() == [
        (None, "", "5", ""),
        ("5", "", "7.5", ""),
        ("7.5", "", None, "absent"),
        (None, "absent", None, ""),
    ]


def test_history_line_names_cell_actor_and_moment_as_the_event_does() -> None:
    cell = Cell()
    project(record(cell.change("5")))
    line = MarkHistory.objects.get()
    assert (line.sheet_id, line.column_id, line.student_id) == (
        cell.sheet_id,
        cell.column_id,
        cell.student_id,
    )
    assert (line.actor_type, line.actor_id, line.actor_name) == ("person", cell.teacher_id, "Grace Hopper")
    assert (line.column_title, line.student_name, line.reason) == ("Essay", "Ada Lovelace", "typed")
    assert line.cell_version == 1


def test_history_line_keeps_the_file_and_line_that_an_import_names() -> None:
    cell = Cell()
    project(record(cell.change("5"), cell.change("7", reason="imported", origin="marks.csv, line 7")))
    assert [(line["reason"], line["origin"]) for line in lines()] == [
        ("typed", ""),
        ("imported", "marks.csv, line 7"),
    ]


def test_history_of_a_bulk_change_has_a_line_for_each_changed_cell_and_none_for_the_others() -> None:
    """O16: 300 marks changed in one transaction; nobody else's history moves."""
    sheet, untouched = Cell(), Cell()
    cells = [Cell(sheet_id=sheet.sheet_id, column_id=sheet.column_id) for _ in range(300)]
    project(record(untouched.change("1"), *(cell.change("4") for cell in cells)))
    project(record(*(cell.change(str(number)) for number, cell in enumerate(cells))))
    assert MarkHistory.objects.filter(student_id=untouched.student_id).count() == 1
    found = MarkHistory.objects.filter(sheet_id=sheet.sheet_id, cell_version=2)
    assert {line.student_id: (line.old_value, line.new_value) for line in found} == {
        cell.student_id: (Decimal(4), Decimal(number)) for number, cell in enumerate(cells)
    }


def test_history_is_the_same_when_batches_come_again_or_out_of_order() -> None:
    cells = [Cell() for _ in range(5)]
    dice = random.Random(7)
    positions = record(*(dice.choice(cells).change(str(number)) for number in range(40)))
    project(positions)
    once = lines()
    MarkHistory.objects.all().delete()
    batches = [positions[start : start + 7] for start in range(0, 40, 7)] * 2
    dice.shuffle(batches)
    for batch in batches:
        project(batch)
    assert lines() == once
