"""The pages of mark sheets, as the server draws them: who sees what, how many queries, how big."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from gradebook.models import Column, MarkSheet, User
from gradebook.services.marks import save_marks
from tests import factories
from tests.gradebook.marks import change, post, save
from tests.people import World

pytestmark = pytest.mark.django_db

PEOPLE = {
    # who: (status of the list, status of the sheet, status of the new-column form)
    "teacher": (200, 200, 200),
    "admin": (200, 200, 403),
    "other_teacher": (200, 404, 404),
    "other_school_teacher": (200, 404, 404),
    "student": (403, 404, 404),
    "nobody": (302, 302, 302),
}


def _url(name: str, *parts: Any) -> str:
    return reverse(f"gradebook:{name}", args=[part.pk for part in parts])


@pytest.mark.parametrize("who", PEOPLE)
def test_pages_are_for_those_who_teach_the_class(
    request: pytest.FixtureRequest, client: Client, world: World, who: str
) -> None:
    person = request.getfixturevalue(who)
    column = factories.column(world.sheet)
    if person:
        client.force_login(person)
    statuses = [
        client.get(url).status_code
        for url in (_url("my_sheets"), _url("sheet", world.sheet), _url("add_column", world.sheet))
    ]
    assert tuple(statuses) == PEOPLE[who]
    assert client.get(_url("edit_column", world.sheet, column)).status_code == PEOPLE[who][2]


def test_cells_show_marks_codes_and_the_automatic_result_beside(
    client: Client, world: World, teacher: User, student: User, other_student: User
) -> None:
    column = factories.column(world.sheet, title="Essay", max_points="12.5")
    post(column, student, "6.5")
    save(column, student, "8", version=1, by=teacher)
    save(column, other_student, "e", by=teacher)
    client.force_login(teacher)

    page = client.get(_url("sheet", world.sheet), HTTP_ACCEPT_LANGUAGE="de").content.decode()

    assert re.findall(r"<td.*?</td>", page) == [
        (
            '<td data-v="2" data-e="8" data-a="6.5">8<span class="beside">'
            '<span class="visually-hidden"> automatic mark: </span>6,5</span></td>'
        ),
        '<td data-v="1" data-e="excused">excused</td>',
    ]
    assert 'data-decimal-sign=","' in page
    assert "12,5" in page


@pytest.mark.parametrize(("language", "text"), [("de", "7,5"), ("en", "7.5"), ("fr", "7,5")])
def test_marks_are_written_in_the_readers_decimals(
    client: Client, world: World, teacher: User, student: User, language: str, text: str
) -> None:
    save(factories.column(world.sheet), student, "7.5", by=teacher)
    client.force_login(teacher)
    page = client.get(_url("sheet", world.sheet), HTTP_ACCEPT_LANGUAGE=language).content.decode()
    assert re.findall(r"<td.*?</td>", page) == [f'<td data-v="1" data-e="7.5">{text}</td>']


def test_names_and_titles_are_text_and_never_markup(client: Client, world: World, teacher: User) -> None:
    villain = factories.student(world.school, first_name="<script>1</script>", last_name='"><b>x')
    factories.enrolment(villain, world.school_class)
    factories.column(world.sheet, title="<script>2</script>")
    client.force_login(teacher)
    page = client.get(_url("sheet", world.sheet)).content.decode()
    assert "<script>1" not in page
    assert "<script>2" not in page
    assert '"><b>x' not in page


def test_sheet_without_columns_or_students_says_what_to_do(
    client: Client, world: World, teacher: User
) -> None:
    client.force_login(teacher)
    assert "Add the first column" in client.get(_url("sheet", world.sheet)).content.decode()
    factories.column(world.sheet)
    assert "Nobody is enrolled" in client.get(_url("sheet", world.sheet)).content.decode()


def test_teacher_without_a_class_is_told_what_happens_next(client: Client, world: World) -> None:
    client.force_login(factories.teacher(world.school))
    assert "You are not assigned to a class yet" in client.get(_url("my_sheets")).content.decode()


def test_my_sheets_are_grouped_by_period_with_their_numbers(
    client: Client, world: World, teacher: User, student: User, other_student: User
) -> None:
    for column in (factories.column(world.sheet), factories.column(world.sheet)):
        save(column, student, "7", by=teacher)
    client.force_login(teacher)
    page = client.get(_url("my_sheets")).content.decode()
    assert re.sub(r"\s+", " ", page).count("2 students · 2 columns · 2 marks") == 1
    assert page.count(world.period.name) == 1


def test_terms_of_one_name_in_two_schools_are_listed_one_after_the_other(
    client: Client, world: World, admin: User
) -> None:
    """Interleaved by course, one heading would come again and again."""
    other = factories.period(world.other_school, name=world.period.name, starts_on=world.period.starts_on)
    for title, period in (("Art", other), ("Biology", world.period), ("Chemistry", other)):
        course = factories.course(period.school, title=title)
        factories.sheet(factories.school_class(period.school), course=course, period=period)
    client.force_login(admin)
    [main] = re.findall(r"<main.*</main>", client.get(_url("my_sheets")).content.decode(), re.DOTALL)
    assert len(re.findall("<h2", main)) == 2


def _fill(world: World, teacher: User, *, students: int, columns: int) -> list[Column]:
    made = [factories.column(world.sheet, max_points=100) for _ in range(columns)]
    people = [factories.student(world.school) for _ in range(students)]
    for person in people:
        factories.enrolment(person, world.school_class)
    for column in made:
        save_marks(
            sheet=world.sheet, changes=[change(column, person, "87.5") for person in people], by=teacher
        )
    return made


@pytest.mark.parametrize("number", [1, 3])
def test_sheet_page_takes_the_same_queries_whatever_its_size(
    client: Client, world: World, teacher: User, django_assert_num_queries: Any, number: int
) -> None:
    _fill(world, teacher, students=number, columns=number)
    client.force_login(teacher)
    with django_assert_num_queries(7):  # session, person, sheet, snapshot, columns, students, marks
        client.get(_url("sheet", world.sheet))


@pytest.mark.parametrize("number", [1, 3])
def test_list_takes_the_same_queries_whatever_its_length(
    client: Client, world: World, teacher: User, django_assert_num_queries: Any, number: int
) -> None:
    for _ in range(number - 1):
        _another_sheet(world, teacher)
    client.force_login(teacher)
    with django_assert_num_queries(3):  # session, person, sheets
        page = client.get(_url("my_sheets")).content.decode()
    assert page.count("sheet-card__link") == number


def test_long_list_is_read_page_by_page(client: Client, world: World, admin: User) -> None:
    for _ in range(60):
        factories.sheet(factories.school_class(world.school), world.course, world.period)
    client.force_login(admin)
    pages = [
        client.get(_url("my_sheets"), {"page": page}).content.decode() for page in ("1", "2", "3", "0", "x")
    ]
    assert [page.count("sheet-card__link") for page in pages] == [60, 1, 0, 60, 60]
    assert ["?page=2" in page for page in pages[:3]] == [True, False, True]


def _another_sheet(world: World, teacher: User) -> MarkSheet:
    sheet = factories.sheet(factories.school_class(world.school))
    factories.assignment(teacher, sheet.school_class, sheet.course, sheet.period)
    return sheet


def test_page_of_200_students_and_20_columns_stays_small(client: Client, world: World, teacher: User) -> None:
    _fill(world, teacher, students=200, columns=20)
    client.force_login(teacher)
    page = client.get(_url("sheet", world.sheet)).content
    assert page.count(b"<td ") == 4_000
    assert len(page) < 400_000
