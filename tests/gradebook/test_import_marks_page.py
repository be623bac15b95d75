"""The import page: nothing is written before it was looked at, and what is written is what was shown."""

import html
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from gradebook.models import Column, User
from gradebook.services.terms import lock_term, open_term
from tests import factories
from tests.gradebook import workbooks
from tests.gradebook.marks import count_events, list_facts, list_steps, save, shown
from tests.people import World

pytestmark = pytest.mark.django_db
IN_THESE_WORDS = "This term is locked: its marks stand still. Propose an amendment instead."
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')


@pytest.fixture
def column(world: World, student: User, other_student: User, teacher: User) -> Column:
    column = factories.column(world.sheet, title="Essay", max_points=20)
    save(column, student, "5", by=teacher)
    return column


@pytest.fixture
def url(world: World, client: Client, teacher: User) -> str:
    """The page's address; the teacher is signed in."""
    client.force_login(teacher)
    return reverse("gradebook:import_marks", args=[world.sheet.pk])


def _look(client: Client, url: str, text: str, **fields: str) -> Any:
    file = SimpleUploadedFile("marks.csv", text.encode())
    return client.post(url, {"file": file, **fields})


def _second_form(answer: Any) -> dict[str, str]:
    """Return what the button below the preview sends."""
    return dict(HIDDEN.findall(answer.content.decode()))


def test_preview_shows_what_would_change_and_changes_nothing(
    client: Client, url: str, column: Column, student: User, other_student: User
) -> None:
    page = _look(client, url, "username;Essay;Mood\nstudent;7,5;glad\nother_student;;sad\n")
    text = page.content.decode()
    assert (page.status_code, [(line.line, old, new) for line, old, new in page.context["lines"]]) == (
        200,
        [(2, "5", "7.5")],
    )
    assert "Import 1 mark<" in text
    assert "“Mood”" in text
    assert (shown(column, student), count_events([column])) == ("5", 1)


def test_page_that_names_faults_stays_one_that_can_be_read(client: Client, url: str, column: Column) -> None:
    page = _look(client, url, "username,Essay\n" + "nobody,7\n" * 150).content.decode()
    assert "150 things to put right" in page
    assert "These are the first 100." in page
    assert page.count("<b>Line ") == 100
    short = _look(client, url, "username,Essay\n" + "nobody,7\n" * 100).content.decode()
    assert (short.count("<b>Line "), "These are" in short) == (100, False)


def test_what_was_looked_at_is_imported_with_file_and_line(
    client: Client, url: str, column: Column, student: User, other_student: User
) -> None:
    page = _look(client, url, "username,Essay\nstudent,\nother_student,0\n", is_clearing="on")
    answer = client.post(url, _second_form(page), follow=True)
    assert "2 marks imported from marks.csv." in answer.content.decode()
    assert list_steps(column, student) == [("typed", None, "5"), ("imported", "5", "")]
    assert [fact.get("origin") for fact in list_facts(column, other_student)] == ["marks.csv, line 3"]


def test_marks_that_moved_since_the_preview_are_shown_once_more_and_not_overwritten(
    client: Client, url: str, column: Column, student: User, teacher: User
) -> None:
    """O21, O17: what is imported is what was shown."""
    form = _second_form(_look(client, url, "username,Essay\nstudent,7\n"))
    save(column, student, "6", 1, by=teacher)
    again = client.post(url, form)
    assert "marks of this sheet have changed since you looked" in again.content.decode()
    assert (shown(column, student), count_events([column])) == ("6", 2)
    assert client.post(url, _second_form(again)).status_code == 302
    assert shown(column, student) == "7"


def test_faults_are_listed_by_line_and_the_file_can_be_chosen_again(
    client: Client, url: str, column: Column, student: User
) -> None:
    page = _look(client, url, "username,Essay\nnobody,7\nstudent,21\n")
    assert (page.status_code, [str(fault) for fault in page.context["faults"]]) == (
        409,
        [
            "line 2: “nobody” is no user name of a student in this mark sheet.",
            f"line 3: {student.full_name}, Essay, “21”: The most this column gives is 20.",
        ],
    )
    assert 'type="file"' in page.content.decode()
    assert count_events([column]) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"content": "A"},
        {"content": "A", "digest": "x", "term": "1"},
        {"content": "eA==", "digest": "x", "term": "x"},
    ],
)
def test_what_is_no_file_is_said(client: Client, url: str, column: Column, fields: dict[str, str]) -> None:
    page = client.post(url, fields)
    assert (page.status_code, "hoose" in page.context["error"]) == (409, True)


def test_locked_term_refuses_before_and_after_the_preview_in_the_words_of_every_door(
    client: Client, url: str, world: World, column: Column, student: User
) -> None:
    office = factories.admin(school=world.school)
    file = "username,Essay\nstudent,7\n"
    form = _second_form(_look(client, url, file))
    lock_term(period_id=world.period.pk, by=office)
    for answer in (client.get(url), client.post(url, form), _look(client, url, file)):
        assert IN_THESE_WORDS in answer.content.decode()
        assert 'type="file"' not in answer.content.decode()
    open_term(period_id=world.period.pk, reason="A class was forgotten.", by=office)
    moved = client.post(url, form)
    assert (moved.status_code, moved.context["error"].split(".")[0]) == (
        409,
        "This term was locked and opened again, or amended, since the page was loaded",
    )
    assert (shown(column, student), count_events([column])) == ("5", 1)


def test_page_is_for_the_teachers_of_the_sheet(
    client: Client, url: str, world: World, column: Column, student: User, other_teacher: User
) -> None:
    for person, status in ((factories.admin(school=world.school), 403), (student, 404), (other_teacher, 404)):
        client.force_login(person)
        assert client.get(url).status_code == status
        assert _look(client, url, "username,Essay\nstudent,7\n").status_code == status
    assert count_events([column]) == 1


def test_worksheet_is_asked_for_and_the_workbook_imported(
    client: Client, url: str, column: Column, student: User, other_student: User
) -> None:
    """The file is chosen once; each step brings it along."""
    rows: workbooks.Rows = [["username", "Essay"], ["student", 7.5]]
    data = workbooks.make({"Notes": [["for me"]], "7 <b>": rows})
    asked = client.post(url, {"file": SimpleUploadedFile("marks.xlsx", data), "is_clearing": "on"})
    assert asked.context["worksheets"] == ["Notes", "7 <b>"]
    looked = client.post(url, {**_second_form(asked), "worksheet": "7 <b>"})
    assert [(line.line, old, new) for line, old, new in looked.context["lines"]] == [(2, "5", "7.5")]
    form = {name: html.unescape(value) for name, value in _second_form(looked).items()}
    assert form["worksheet"] == "7 <b>"
    assert client.post(url, form).status_code == 302
    assert shown(column, student) == "7.5"
    assert list_facts(column, student)[-1]["origin"] == "marks.xlsx, line 2"
