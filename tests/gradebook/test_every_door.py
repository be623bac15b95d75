"""The one table of the doors to a term's marks: a locked term refuses at each of them, in the same words, and nothing is written or said.

A new door is a new row here. What has no caller to refuse (a result that comes late, a statement past the product) stands below the table.
"""

import io
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse

from gradebook.errors import TermIsLocked
from gradebook.models import Amendment, Column, Mark, Scheme, User
from gradebook.services.columns import add_column, edit_column, open_exam_column
from gradebook.services.schemes import WantedScheme, set_scheme
from gradebook.services.terms import lock_term
from gradebook.snapshots.carrying import carry_over_marks
from outbox.models.log import Event
from tests import factories
from tests.gradebook.locking import column
from tests.gradebook.marks import count_events, post, save, shown
from tests.people import World

__all__ = ["column"]
pytestmark = pytest.mark.django_db
IN_THESE_WORDS = "This term is locked: its marks stand still. Propose an amendment instead."
FILE = "username,Essay\nstudent,9\n"


class Room(NamedTuple):
    """What stands in front of a door: a column with one mark, in a term that is locked now; who comes, and by which window."""

    column: Column
    student: User
    teacher: User
    client: Client
    folder: Path


@pytest.fixture
def room(world: World, column: Column, student: User, teacher: User, client: Client, tmp_path: Path) -> Room:
    client.force_login(teacher)
    lock_term(period_id=world.period.pk, by=factories.admin(school=world.school))
    column.sheet.refresh_from_db()
    return Room(column, student, teacher, client, tmp_path)


def _said(act: Callable[[], object]) -> str:
    with pytest.raises((TermIsLocked, CommandError)) as refused:
        act()
    return str(refused.value)


def _send(room: Room, name: str, form: dict[str, Any], *parts: object) -> str:
    """Send a form, and return the page that comes back."""
    return room.client.post(reverse(name, args=[room.column.sheet_id, *parts]), form).content.decode()


def _send_cells(room: Room, **how: str) -> str:
    """Send what the grid sends, from a page that was loaded before the lock."""
    cell = {"column": str(room.column.pk), "student": str(room.student.pk), "version": 1, "entry": "9", **how}
    body = {"by": str(room.teacher.pk), "term": 1, "decimal_sign": ".", "changes": [cell]}
    url = reverse("gradebook:marks", args=[room.column.sheet_id])
    answer = room.client.post(url, body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (409, "term_locked")
    return str(answer.json()["detail"])


def _import_by_command(room: Room) -> str:
    file = room.folder / "marks.csv"
    file.write_text(FILE)
    column = f"--column={room.column.pk}"
    return _said(lambda: call_command("import_marks", str(file), column, by="teacher", stdout=io.StringIO()))


def _upload(room: Room) -> str:
    return _send(room, "gradebook:import_marks", {"file": SimpleUploadedFile("marks.csv", FILE.encode())})


def _change_in_administration(room: Room) -> str:
    room.client.force_login(factories.admin())
    url = reverse("admin:gradebook_column_change", args=[room.column.pk])
    return room.client.post(url, {"title": "Other", "max_points": "30"}).content.decode()


def _add_in_administration(room: Room) -> str:
    room.client.force_login(factories.admin())
    form = {"sheet": room.column.sheet_id, "title": "Other", "max_points": "30"}
    return room.client.post(reverse("admin:gradebook_column_add"), form).content.decode()


def _add(room: Room) -> object:
    return add_column(sheet=room.column.sheet, title="Other", max_points=Decimal(5), by=room.teacher)


def _edit(room: Room) -> object:
    return edit_column(
        column_id=room.column.pk,
        sheet=room.column.sheet,
        title="Other",
        max_points=Decimal(30),
        by=room.teacher,
    )


def _link_exam(room: Room) -> object:
    sheet = room.column.sheet
    return open_exam_column(
        sheet=sheet, exam_id=sheet.pk, title="Exam", max_points=Decimal(5), by=room.teacher
    )


def _set_rules(room: Room) -> object:
    return set_scheme(sheet=room.column.sheet, wanted=WantedScheme(), version=0, by=room.teacher)


RULES = {"absent": "zero", "missing": "zero", "blank": "left_out", "version": "0"}
COLUMN = {"title": "Other", "max_points": "30"}
DOORS: dict[str, Callable[[Room], str]] = {
    "save": lambda room: _said(lambda: save(room.column, room.student, "9", 1, by=room.teacher)),
    "grid, loaded before the lock": _send_cells,
    "paste": lambda room: _send_cells(room, how="pasted"),
    "import, by command": _import_by_command,
    "import, on its page": _upload,
    "copies of the old system": lambda room: _said(
        lambda: carry_over_marks(sheet=room.column.sheet, by=room.teacher)
    ),
    "add a column": lambda room: _said(lambda: _add(room)),
    "add a column, on its page": lambda room: _send(room, "gradebook:add_column", COLUMN),
    "edit a column": lambda room: _said(lambda: _edit(room)),
    "edit a column, on its page": lambda room: _send(room, "gradebook:edit_column", COLUMN, room.column.pk),
    "link an exam": lambda room: _said(lambda: _link_exam(room)),
    "rules for totals": lambda room: _said(lambda: _set_rules(room)),
    "rules for totals, on their page": lambda room: _send(room, "gradebook:total_rules", RULES),
    "administration, a column changed": _change_in_administration,
    "administration, a column added": _add_in_administration,
}


@pytest.mark.parametrize("door", DOORS)
def test_door_refuses_in_the_same_words_and_lets_nothing_in(room: Room, door: str) -> None:
    before = Event.objects.count()
    assert IN_THESE_WORDS in DOORS[door](room)
    assert list(Column.objects.values_list("title", "max_points")) == [("Essay", Decimal(20))]
    assert [str(mark.value) for mark in Mark.objects.all()] == ["7.000"]
    assert (Scheme.objects.count(), Event.objects.count()) == (0, before)


def test_late_result_waits_as_a_proposal(room: Room) -> None:
    column, student = room.column, room.student
    assert post(column, student, "9").proposed == [(column.pk, student.pk)]
    assert post(column, student, "9").unchanged == [(column.pk, student.pk)]
    assert post(column, student, "8", minute=-1).unchanged == [(column.pk, student.pk)]
    assert (shown(column, student), count_events([column])) == ("7", 1)
    post(column, student, "10", minute=5)
    amendment = Amendment.objects.get()
    assert (amendment.value, amendment.source, amendment.state, amendment.old_version) == (
        Decimal(10),
        "automatic",
        "proposed",
        1,
    )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE gradebook_mark SET value = 1",
        "DELETE FROM gradebook_mark",
        "UPDATE gradebook_column SET max_points = 99",
    ],
)
def test_database_refuses_what_comes_another_way(room: Room, statement: str) -> None:
    with (
        pytest.raises(IntegrityError, match="the term is locked"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


def test_database_refuses_a_new_row(room: Room) -> None:
    with pytest.raises(IntegrityError, match="the term is locked"), transaction.atomic():
        factories.column(room.column.sheet)
