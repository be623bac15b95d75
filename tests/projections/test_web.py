"""The history pages: who may see them, what they say, and that they admit to being behind."""

import dataclasses
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from gradebook.models import User
from outbox.models import Consumer
from projections.history.projector import MarksheetHistory
from tests.people import World
from tests.projections.changes import Cell, project, record

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cell(world: World, student: User) -> Cell:
    """A cell of the teacher's own sheet."""
    return Cell(sheet_id=world.sheet.pk, student_id=student.pk)


def _urls(cell: Cell) -> list[str]:
    sheet = {"sheet_id": cell.sheet_id}
    of_cell = {"column_id": cell.column_id, "student_id": cell.student_id}
    return [reverse("history:sheet", kwargs=sheet), reverse("history:cell", kwargs=sheet | of_cell)]


def _signed_in(person: User | None) -> Client:
    client = Client()
    if person is not None:
        client.force_login(person)
    return client


@pytest.mark.parametrize(
    ("person", "status"),
    [
        ("teacher", 200),
        ("admin", 200),
        ("other_teacher", 404),
        ("other_school_teacher", 404),
        ("student", 404),
        ("other_student", 404),
        ("nobody", 302),
    ],
)
def test_history_is_shown_to_those_who_may_see_the_sheet_and_to_nobody_else(
    person: str, status: int, cell: Cell, request: pytest.FixtureRequest
) -> None:
    project(record(cell.change("5")))
    client = _signed_in(request.getfixturevalue(person))
    answers = [client.get(url) for url in _urls(cell)]
    assert [answer.status_code for answer in answers] == [status, status]
    assert [b"Ada Lovelace" in answer.content for answer in answers] == [status == 200] * 2


def test_history_of_a_sheet_that_does_not_exist_is_not_found(admin: User) -> None:
    assert [_signed_in(admin).get(url).status_code for url in _urls(Cell())] == [404, 404]


def test_history_of_a_cell_without_changes_says_so(teacher: User, cell: Cell) -> None:
    for url in _urls(cell):
        assert b"No changes yet." in _signed_in(teacher).get(url).content


def test_history_fragment_is_the_lines_without_the_page(teacher: User, cell: Cell) -> None:
    project(record(cell.change("5")))
    text = _signed_in(teacher).get(_urls(cell)[1], {"fragment": "1"}).content.decode()
    assert "<html" not in text
    assert text.count('<li class="history__line">') == 1


def test_history_pages_on_to_the_older_lines(teacher: User, cell: Cell) -> None:
    project(record(*(cell.change(str(number)) for number in range(60))))
    client, url = _signed_in(teacher), _urls(cell)[1]
    first = client.get(url)
    second = client.get(url, {"before": first.context["older_before"]})
    shown = [[line.new for line in page.context["lines"]] for page in (first, second)]
    assert shown == [
        [str(number) for number in range(59, 9, -1)],
        [str(number) for number in range(9, -1, -1)],
    ]
    assert b"That is the whole history." in second.content


@pytest.mark.parametrize("before", ["x", "-", "--1", "1e3", "9" * 40, "\x00", "²"])
def test_history_starts_at_the_top_when_asked_to_page_from_nowhere(
    before: str, teacher: User, cell: Cell
) -> None:
    project(record(cell.change("5")))
    answer = _signed_in(teacher).get(_urls(cell)[0], {"before": before})
    assert (answer.status_code, len(answer.context["lines"])) == (200, 1)


def test_history_says_that_it_is_behind_as_soon_as_its_budget_is_exceeded(teacher: User, cell: Cell) -> None:
    """O8: the budget is breached, and every read says so at once."""
    record(cell.change("5"))  # numbered, and not applied by anybody
    Consumer.objects.create(name=MarksheetHistory.name, staleness_budget=MarksheetHistory.staleness_budget)
    url = _urls(cell)[0]
    assert b"behind" not in _signed_in(teacher).get(url).content
    Consumer.objects.update(staleness_budget="0 seconds")
    assert b"This history may be up to 1 s behind." in _signed_in(teacher).get(url).content


def test_history_says_that_it_is_being_rebuilt(teacher: User, cell: Cell) -> None:
    Consumer.objects.create(
        name=MarksheetHistory.name, staleness_budget=MarksheetHistory.staleness_budget, is_filling=True
    )
    assert b"This history is being rebuilt" in _signed_in(teacher).get(_urls(cell)[0]).content


def test_history_shows_hostile_names_as_text(teacher: User, cell: Cell) -> None:
    event = cell.change("5")
    evil = {"student_name": "<script>alert(1)</script>", "actor_name": '\u202e"><img src=x>'}
    record(dataclasses.replace(event, payload={**event.payload, **evil}))
    project([1])
    text = _signed_in(teacher).get(_urls(cell)[0]).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<img src=x>" not in text


def test_history_page_costs_the_same_for_one_line_and_for_three(
    teacher: User, cell: Cell, django_assert_num_queries: Any
) -> None:
    client = _signed_in(teacher)
    for more in (1, 2):
        project(record(*(cell.change(str(number)) for number in range(more))))
        with django_assert_num_queries(
            5
        ):  # session, person, permission, which era serves together with the history, how far behind
            client.get(_urls(cell)[0])
