"""Whoever comes too late in the administration is told so: never a fault of ours, nothing half done, what was typed still there."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.models.signals import pre_delete, pre_save
from django.test import Client
from django.urls import reverse

from gradebook.models import Column, Course, Enrolment, Mark, MarkSheet, Period, SchoolClass, User
from gradebook.services.terms import lock_term
from outbox.models.log import Event
from tests import factories
from tests.gradebook.marks import save
from tests.people import World

pytestmark = pytest.mark.django_db
NOT_AN_ID = "1,234"


@pytest.fixture
def office(client: Client, admin: User) -> Client:
    client.force_login(admin)
    return client


@pytest.fixture
def meanwhile() -> Iterator[Callable[..., None]]:
    """Do something once, between what the forms have looked at and what is then written."""
    connected: list[tuple[Any, Any, type]] = []

    def arrange(signal: Any, model: type, act: Callable[[], object]) -> None:
        def once(**_: object) -> None:
            signal.disconnect(once, sender=model)
            act()

        signal.connect(once, sender=model, weak=False)
        connected.append((signal, once, model))

    yield arrange
    for signal, receiver, model in connected:
        signal.disconnect(receiver, sender=model)


def _url(model: Any, page: str, *args: object) -> str:
    return reverse(f"admin:gradebook_{model._meta.model_name}_{page}", args=args)


def _on_another_connection(statement: str, parameters: list[Any]) -> None:
    """Commit something beside the transaction that is open here."""
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute(statement, parameters)
    finally:
        other.close()


@pytest.mark.django_db(transaction=True)
def test_second_of_two_who_take_a_name_at_once_reads_it_beside_the_field(
    office: Client, world: World, meanwhile: Callable[..., None]
) -> None:
    add = "INSERT INTO gradebook_course (id, school_id, code, title) VALUES (%s, %s, 'ART', 'Art')"
    meanwhile(pre_save, Course, lambda: _on_another_connection(add, [uuid.uuid4(), world.school.pk]))
    fields = {"school": world.school.pk, "code": "ART", "title": "Fine arts"}
    page = office.post(_url(Course, "add"), fields)
    assert page.status_code == 200
    assert page.context["adminform"].form.errors == {
        "__all__": ["Course with this School and Code already exists."]
    }
    assert 'value="Fine arts"' in page.content.decode()
    assert list(page.context["messages"]) == []
    assert list(Course.objects.filter(code="ART").values_list("title", flat=True)) == ["Art"]


@pytest.mark.django_db(transaction=True)
def test_row_that_comes_into_use_while_it_is_deleted_stays(
    office: Client, world: World, student: User, meanwhile: Callable[..., None]
) -> None:
    """The database finds the reference at the commit, when Django has looked long ago."""
    empty = factories.school_class(world.school)
    enrol = "INSERT INTO gradebook_enrolment (id, student_id, school_class_id, starts_on) VALUES (%s, %s, %s, now())"
    meanwhile(
        pre_delete, SchoolClass, lambda: _on_another_connection(enrol, [uuid.uuid4(), student.pk, empty.pk])
    )
    page = office.post(_url(SchoolClass, "delete", empty.pk), {"post": "yes"})
    assert page.context["object"] == empty
    assert f">{student} in {empty}</a>" in page.context["protected"][0]
    assert list(page.context["messages"]) == []
    assert SchoolClass.objects.filter(pk=empty.pk).exists()


def test_column_without_marks_is_removed_and_the_log_says_so(office: Client, world: World) -> None:
    columns = [factories.column(world.sheet, title=title) for title in ("One", "Two", "Three")]
    ticked = {"action": "delete_selected", "post": "yes", "_selected_action": [c.pk for c in columns[:2]]}
    assert office.post(_url(Column, "changelist"), ticked).status_code == 302
    assert office.post(_url(Column, "delete", columns[2].pk), {"post": "yes"}).status_code == 302
    assert not Column.objects.exists()
    removed = Event.objects.filter(kind="ColumnRemoved").order_by("seq")
    assert [event.payload["old"]["title"] for event in removed] == ["One", "Two", "Three"]
    assert {event.subject for event in removed} == {f"column:{column.pk}" for column in columns}


def test_no_column_of_several_is_removed_when_one_has_marks(
    office: Client, world: World, student: User, teacher: User
) -> None:
    empty, used = (factories.column(world.sheet) for _ in range(2))
    save(used, student, "7", by=teacher)
    for page, form in (
        (_url(Column, "changelist"), {"action": "delete_selected", "_selected_action": [empty.pk, used.pk]}),
        (_url(Column, "delete", used.pk), {}),
    ):
        assert office.post(page, form | {"post": "yes"}).status_code == 200  # Django's page names the marks
    assert Column.objects.count() == 2
    assert not Event.objects.filter(kind="ColumnRemoved").exists()


def test_column_of_a_locked_term_stays_and_the_page_says_why(
    office: Client, world: World, admin: User
) -> None:
    column = factories.column(world.sheet)
    lock_term(period_id=world.period.pk, by=admin)
    ticked = {"action": "delete_selected", "post": "yes", "_selected_action": [column.pk]}
    for url, form in (
        (_url(Column, "delete", column.pk), {"post": "yes"}),
        (_url(Column, "changelist"), ticked),
    ):
        page = office.post(url, form, follow=True)
        assert [str(message) for message in page.context["messages"]] == [
            "This term is locked: its marks stand still. Propose an amendment instead."
        ]
    assert list(Column.objects.all()) == [column]


@pytest.mark.parametrize("model", [Column, Enrolment, MarkSheet, User], ids=lambda model: model.__name__)
def test_id_that_is_none_is_refused_where_rows_are_ticked(office: Client, world: World, model: type) -> None:
    ticked = {"action": "delete_selected", "_selected_action": [NOT_AN_ID]}
    assert office.post(_url(model, "changelist"), ticked).status_code == 400


def test_values_that_nobody_types_are_refused_and_not_understood(office: Client, world: World) -> None:
    filtered = office.get(_url(Mark, "changelist"), {"source__exact": "\0"})
    column = factories.column(world.sheet, title="Essay")
    saved = office.post(_url(Column, "change", column.pk), {"title": "Essay", "max_points": "sNaN"})
    assert (filtered.status_code, saved.status_code) == (400, 400)


@pytest.mark.parametrize(
    ("model", "field"), [(Column, "sheet"), (Enrolment, "student"), (User, "school")], ids=["1", "2", "3"]
)
def test_id_that_is_none_chooses_nothing_where_it_is_searched_for(
    office: Client, world: World, model: type, field: str
) -> None:
    assert office.get(_url(model, "add"), {field: NOT_AN_ID}).status_code == 200
    page = office.post(_url(model, "add"), {field: NOT_AN_ID})
    assert page.context["adminform"].form.errors[field]


@pytest.mark.parametrize("model", [Course, Period, SchoolClass], ids=lambda model: model.__name__)
def test_what_a_school_is_made_of_stays_in_it(office: Client, world: World, model: Any) -> None:
    rows: dict[Any, Any] = {Course: world.course, Period: world.period, SchoolClass: world.school_class}
    row = rows[model]
    url = _url(model, "change", row.pk)
    form = office.get(url).context["adminform"].form
    inlines = {
        "enrolments-TOTAL_FORMS": 0,
        "enrolments-INITIAL_FORMS": 0,
    }
    fields = {**form.initial, "name": "New", "title": "New", "school": world.other_school.pk, **inlines}
    assert office.post(url, fields).status_code == 302
    row.refresh_from_db()
    assert (row.school, getattr(row, "name", None) or row.title) == (world.school, "New")


@pytest.mark.parametrize("change", [{"role": "teacher"}, {"school": "other"}], ids=["role", "school"])
def test_student_who_is_in_a_class_stays_one_of_its_school(
    office: Client, world: World, student: User, change: dict[str, Any]
) -> None:
    url = _url(User, "change", student.pk)
    person = {"username": student.username, "role": "student", "school": world.school.pk, "is_active": "on"}
    fields = person | {
        name: world.other_school.pk if value == "other" else value for name, value in change.items()
    }
    page = office.post(url, fields)
    assert f"Still in {world.school_class}: end that enrolment first." in page.content.decode()

    Enrolment.objects.update(ends_on="2026-01-01", starts_on="2025-09-01")
    assert office.post(url, fields).status_code == 302
    student.refresh_from_db()
    assert (student.role, student.school_id) == (fields["role"], fields["school"])


def test_time_zone_that_only_python_knows_is_refused(office: Client, world: World) -> None:
    url = reverse("admin:gradebook_school_change", args=[world.school.pk])
    page = office.post(url, {"name": "Hill School", "time_zone": "localtime"})
    assert page.context["adminform"].form.errors["time_zone"]
    assert office.post(url, {"name": "Hill School", "time_zone": "Pacific/Kiritimati"}).status_code == 302
