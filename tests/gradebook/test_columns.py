"""Columns: added, renamed, given another maximum, by form and by service; every change is in the log."""

import re
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from gradebook.errors import ColumnNotFound, ColumnRefused, SheetNotFound
from gradebook.events import column_subject
from gradebook.models import Column, User
from gradebook.services.columns import add_column, edit_column, remove_column
from gradebook.services.terms import lock_term
from outbox.models.log import Event
from tests import factories
from tests.gradebook.marks import save
from tests.people import World

pytestmark = pytest.mark.django_db


def _add(world: World, by: User, title: str = "Essay", most: str = "20", **fields: Any) -> Column:
    return add_column(sheet=world.sheet, title=title, max_points=Decimal(most), by=by, **fields)


def _edit(column: Column, by: User, title: str = "Essay", most: str = "20") -> Column:
    return edit_column(column_id=column.pk, sheet=column.sheet, title=title, max_points=Decimal(most), by=by)


def _facts(column: Column) -> list[tuple[Any, Any]]:
    events = Event.objects.filter(subject=column_subject(column.pk)).order_by("seq")
    assert [event.subject_version for event in events] == list(range(1, len(events) + 1))
    return [(event.payload["old"], event.payload["new"]) for event in events]


def test_columns_are_added_at_the_end_and_told(world: World, teacher: User) -> None:
    first, second = _add(world, teacher), _add(world, teacher, "Test", "12.5")
    assert [(c.title, c.position, c.source) for c in world.sheet.columns.all()] == [
        ("Essay", 0, "manual"),
        ("Test", 1, "manual"),
    ]
    assert _facts(first) == [(None, {"title": "Essay", "max_points": "20"})]
    assert _facts(second) == [(None, {"title": "Test", "max_points": "12.5"})]


def test_column_of_an_exam_names_it(world: World, teacher: User) -> None:
    exam = factories.exam(course=world.course)
    column = _add(world, teacher, source_id=exam.pk)
    assert (column.source, column.source_id) == ("exam", exam.pk)


def test_edit_is_told_with_old_and_new_and_an_edit_of_nothing_is_not(world: World, teacher: User) -> None:
    column = _add(world, teacher)
    _edit(column, teacher, "Essay 1", "25")
    _edit(column, teacher, "Essay 1", "25.000")
    assert _facts(column)[1:] == [
        ({"title": "Essay", "max_points": "20"}, {"title": "Essay 1", "max_points": "25"})
    ]


def test_taken_title_is_refused_and_leaves_nothing_behind(world: World, teacher: User) -> None:
    column, other = _add(world, teacher), _add(world, teacher, "Test")
    with pytest.raises(ColumnRefused) as refused:
        _add(world, teacher)
    assert refused.value.pointer == "/title"
    with pytest.raises(ColumnRefused):
        _edit(other, teacher, "Essay")
    assert Event.objects.count() == 2
    assert set(world.sheet.columns.values_list("title", flat=True)) == {column.title, other.title}


@pytest.mark.parametrize("title", ["essay", " Essay  2", "STRASSE"])
def test_title_that_a_files_header_could_not_tell_from_another_is_taken(
    world: World, teacher: User, title: str
) -> None:
    first, other = _add(world, teacher, "Essay"), _add(world, teacher, "Test")
    _add(world, teacher, "ESSAY 2"), _add(world, teacher, "Straße")
    with pytest.raises(ColumnRefused):
        _add(world, teacher, title)
    with pytest.raises(ColumnRefused):
        _edit(other, teacher, title)
    assert _edit(first, teacher, "ESSAY").title == "ESSAY"


def test_form_is_not_offered_while_the_term_is_locked(
    client: Client, world: World, teacher: User, admin: User
) -> None:
    column = _add(world, teacher)
    lock_term(period_id=world.period.pk, by=admin)
    client.force_login(teacher)
    urls = [
        reverse("gradebook:add_column", args=[world.sheet.pk]),
        reverse("gradebook:edit_column", args=[world.sheet.pk, column.pk]),
        reverse("gradebook:total_rules", args=[world.sheet.pk]),
        reverse("gradebook:import_marks", args=[world.sheet.pk]),
    ]
    for url in urls:
        [main] = re.findall(r"<main.*</main>", client.get(url).content.decode(), re.DOTALL)
        shown = ("This term is locked" in main, "<form" in main, "/amendments/" in main)
        assert shown == (True, False, True), url


def test_maximum_is_not_lowered_below_a_mark(world: World, teacher: User, student: User) -> None:
    column = _add(world, teacher)
    save(column, student, "18.5", by=teacher)
    with pytest.raises(ColumnRefused, match=re.escape("A mark of 18.5 is already in this column.")):
        _edit(column, teacher, most="18.4")
    assert _edit(column, teacher, most="18.5").max_points == Decimal("18.5")


def test_maximum_of_an_exams_column_is_the_exams(world: World, teacher: User) -> None:
    column = _add(world, teacher, source_id=factories.exam(course=world.course).pk)
    with pytest.raises(ColumnRefused):
        _edit(column, teacher, most="30")
    assert _edit(column, teacher, "Final exam").title == "Final exam"


def test_column_of_another_sheet_is_not_found(world: World, teacher: User) -> None:
    elsewhere = factories.column(factories.sheet(world.school_class, period=world.period))
    with pytest.raises(ColumnNotFound):
        edit_column(column_id=elsewhere.pk, sheet=world.sheet, title="x", max_points=Decimal(1), by=teacher)


@pytest.mark.parametrize("who", ["student", "other_teacher", "other_school_teacher"])
def test_columns_are_arranged_by_those_who_teach_the_class(
    request: pytest.FixtureRequest, world: World, teacher: User, who: str
) -> None:
    column = _add(world, teacher)
    stranger = request.getfixturevalue(who)
    with pytest.raises(SheetNotFound):
        _add(world, stranger, "Test")
    with pytest.raises(SheetNotFound):
        _edit(column, stranger, "Test")


def test_forms_add_and_edit_a_column_in_the_readers_decimals(
    client: Client, world: World, teacher: User
) -> None:
    client.force_login(teacher)
    german = {"accept-language": "de"}
    new = reverse("gradebook:add_column", args=[world.sheet.pk])
    answer = client.post(new, {"title": " Aufsatz ", "max_points": "12,5"}, headers=german)
    assert answer.status_code == 302
    column = Column.objects.get()
    assert (column.title, column.max_points) == ("Aufsatz", Decimal("12.5"))

    edit = reverse("gradebook:edit_column", args=[world.sheet.pk, column.pk])
    assert 'value="12,5"' in client.get(edit, headers=german).content.decode()
    client.post(edit, {"title": "Aufsatz 1", "max_points": "20"}, headers=german)
    column.refresh_from_db()
    assert (column.title, column.max_points) == ("Aufsatz 1", Decimal(20))


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"title": "", "max_points": "10"}, "This field is required."),
        ({"title": "Essay", "max_points": "10"}, "already has a column of that title"),
        ({"title": "x" * 121, "max_points": "10"}, "at most 120 characters"),
        ({"title": "a\0b", "max_points": "10"}, "Null characters"),
        ({"title": "New", "max_points": ""}, "This field is required."),
        ({"title": "New", "max_points": "0"}, "A number above 0."),
        ({"title": "New", "max_points": "absent"}, "A number above 0."),
        ({"title": "New", "max_points": "-1"}, "A mark is not below 0."),
        ({"title": "New", "max_points": "1,234"}, "can be read two ways"),
        ({"title": "New", "max_points": "7.1234"}, "At most 3 decimals"),
        ({"title": "New", "max_points": "1000000"}, "999999.999"),
        ({"title": "New", "max_points": "\0"}, "Null characters"),
    ],
)
def test_form_says_what_is_wrong_beside_the_field(
    client: Client, world: World, teacher: User, fields: dict[str, str], word: str
) -> None:
    _add(world, teacher)
    client.force_login(teacher)
    page = client.post(reverse("gradebook:add_column", args=[world.sheet.pk]), fields).content.decode()
    assert page.count('aria-invalid="true"') == 1
    assert word in page
    assert Column.objects.count() == 1


def test_exams_column_keeps_its_maximum_whatever_the_form_says(
    client: Client, world: World, teacher: User
) -> None:
    column = _add(world, teacher, source_id=factories.exam(course=world.course).pk)
    client.force_login(teacher)
    url = reverse("gradebook:edit_column", args=[world.sheet.pk, column.pk])
    assert client.post(url, {"title": "Final", "max_points": "99"}).status_code == 302
    column.refresh_from_db()
    assert (column.title, column.max_points) == ("Final", Decimal(20))


def test_column_that_never_had_a_mark_is_removed_and_told(
    world: World, teacher: User, other_teacher: User
) -> None:
    column = _add(world, teacher)
    with pytest.raises(SheetNotFound):
        remove_column(column_id=column.pk, sheet=world.sheet, by=other_teacher)
    remove_column(column_id=column.pk, sheet=world.sheet, by=teacher)
    assert not Column.objects.exists()
    removed = Event.objects.get(kind="ColumnRemoved")
    assert (removed.subject, removed.subject_version) == (column_subject(column.pk), 2)
    assert removed.payload == {
        "school_id": str(world.school.pk),
        "sheet_id": str(world.sheet.pk),
        "column_id": str(column.pk),
        "actor_name": teacher.full_name,
        "old": {"title": "Essay", "max_points": "20"},
    }
    with pytest.raises(ColumnNotFound):
        remove_column(column_id=column.pk, sheet=world.sheet, by=teacher)


def test_column_that_had_a_mark_or_an_exam_stays(world: World, teacher: User, student: User) -> None:
    marked, linked = _add(world, teacher), _add(world, teacher, "Exam")
    save(marked, student, "7", by=teacher)
    save(marked, student, "", 1, by=teacher)  # cleared: its history stays
    factories.target(factories.exam(course=world.course), world.school_class, column=linked)
    for column, why in ((marked, "This column has marks, or had some"), (linked, "This column is in use")):
        with pytest.raises(ColumnRefused, match=why):
            remove_column(column_id=column.pk, sheet=world.sheet, by=teacher)
    assert (Column.objects.count(), Event.objects.filter(kind="ColumnRemoved").count()) == (2, 0)


def test_column_is_not_called_what_heads_the_students_in_a_file(world: World, teacher: User) -> None:
    """O23: the sheet's own file would name two columns alike, and its import would take marks for people."""
    column = _add(world, teacher)
    with pytest.raises(ColumnRefused, match="choose another title"):
        _add(world, teacher, " Username ")
    with pytest.raises(ColumnRefused, match="choose another title"):
        _edit(column, teacher, "USERNAME")


def test_column_that_is_removed_while_its_page_is_saved_is_named_and_what_was_typed_stays(
    client: Client, world: World, teacher: User
) -> None:
    column = _add(world, teacher)
    client.force_login(teacher)

    def remove_it_meanwhile(execute: Any, statement: str, *about: Any) -> Any:
        if "pg_advisory_xact_lock_shared" in statement:
            Column.objects.all().delete()
        return execute(statement, *about)

    with connection.execute_wrapper(remove_it_meanwhile):
        page = client.post(
            reverse("gradebook:edit_column", args=[world.sheet.pk, column.pk]),
            {"title": "Typed", "max_points": "5"},
        )
    assert page.context["form"].non_field_errors() == [ColumnNotFound().detail]
    assert 'value="Typed"' in page.content.decode()
