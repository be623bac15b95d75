"""The admin's pages: they open, they keep what they must, and marks are for reading there."""

from decimal import Decimal

import pytest
from django.contrib import admin as django_admin
from django.test import Client
from django.urls import reverse

from gradebook.models import Column, Enrolment, Mark, MarkSheet, Role, TeachingAssignment, User
from outbox.models.log import Event
from tests import factories
from tests.gradebook.everything import fill_every_table
from tests.gradebook.marks import save
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)

MODELS = [model for model in django_admin.site._registry if model._meta.app_label == "gradebook"]


@pytest.fixture
def office(client: Client, admin: User) -> Client:
    client.force_login(admin)
    return client


def _url(model: type, page: str, *args: object) -> str:
    return reverse(f"admin:gradebook_{model._meta.model_name}_{page}", args=args)  # type: ignore[attr-defined]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_list_search_and_page_of_every_table_open(
    office: Client, world: World, teacher: User, student: User, model: type
) -> None:
    fill_every_table(world, student, teacher)
    row = model._default_manager.first()  # type: ignore[attr-defined]
    assert row is not None
    assert office.get(_url(model, "changelist"), {"q": "x"}).status_code == 200
    assert office.get(_url(model, "change", row.pk)).status_code == 200


@pytest.mark.parametrize("who", ["teacher", "student", "nobody"])
def test_admin_is_closed_to_everybody_else(
    request: pytest.FixtureRequest, client: Client, world: World, who: str
) -> None:
    person = request.getfixturevalue(who)
    if person:
        client.force_login(person)
    assert client.get(_url(User, "changelist")).status_code == 302


def test_new_persons_password_is_hashed(office: Client, world: World) -> None:
    fields = {
        "username": "new",
        "first_name": "New",
        "last_name": "Person",
        "usable_password": "true",
        "password1": factories.PASSWORD,
        "password2": factories.PASSWORD,
        "role": "teacher",
        "school": str(world.school.pk),
    }
    assert office.post(_url(User, "add"), fields).status_code == 302
    person = User.objects.get(username="new")
    assert (person.role, person.school, person.check_password(factories.PASSWORD)) == (
        Role.TEACHER,
        world.school,
        True,
    )
    assert factories.PASSWORD not in person.password


def test_teacher_without_a_school_is_refused_in_words(office: Client) -> None:
    fields = {
        "username": "new",
        "usable_password": "true",
        "password1": factories.PASSWORD,
        "password2": factories.PASSWORD,
        "role": "teacher",
    }
    page = office.post(_url(User, "add"), fields)
    assert "Students and teachers belong to a school." in page.content.decode()
    assert not User.objects.filter(username="new").exists()


def test_tokens_of_selected_people_are_revoked(office: Client, student: User, other_student: User) -> None:
    office.post(
        _url(User, "changelist"), {"action": "sign_out_everywhere", "_selected_action": [str(student.pk)]}
    )
    revoked = dict(User.objects.values_list("pk", "tokens_valid_after"))
    assert revoked[student.pk] is not None
    assert revoked[other_student.pk] is None


def test_superuser_made_on_the_command_line_is_an_administrator_of_no_school(db: None) -> None:
    person = User.objects.create_superuser("root", password=factories.PASSWORD)
    assert (person.role, person.school, person.is_staff) == (Role.ADMIN, None, True)


def test_assignment_opens_the_mark_sheet(office: Client, world: World) -> None:
    course, teacher = factories.course(world.school), factories.teacher(world.school)
    fields = {
        "teacher": teacher.pk,
        "course": course.pk,
        "school_class": world.school_class.pk,
        "period": world.period.pk,
    }
    assert office.post(_url(TeachingAssignment, "add"), fields).status_code == 302
    assert MarkSheet.objects.filter(course=course, school=world.school).count() == 1


def test_assignment_across_schools_is_refused_in_words(office: Client, world: World) -> None:
    course, teacher = factories.course(world.other_school), factories.teacher(world.school)
    fields = {
        "teacher": teacher.pk,
        "course": course.pk,
        "school_class": world.school_class.pk,
        "period": world.period.pk,
    }
    page = office.post(_url(TeachingAssignment, "add"), fields)
    assert "must all be of one school" in page.content.decode()
    assert not TeachingAssignment.objects.filter(course=course).exists()


def test_only_students_of_the_school_are_enrolled(office: Client, world: World, teacher: User) -> None:
    for person in (teacher, factories.student(world.other_school)):
        fields = {"student": person.pk, "school_class": world.school_class.pk, "starts_on": "2026-09-01"}
        assert office.post(_url(Enrolment, "add"), fields).status_code == 200
    assert not Enrolment.objects.exists()


def test_column_is_saved_through_its_service(
    office: Client, world: World, student: User, teacher: User
) -> None:
    fields = {"sheet": world.sheet.pk, "title": "Essay", "max_points": "20", "source_id": ""}
    assert office.post(_url(Column, "add"), fields).status_code == 302
    column = Column.objects.get()
    save(column, student, "18", by=teacher)

    edit = _url(Column, "change", column.pk)
    assert (
        "A mark of 18 is already"
        in office.post(edit, {"title": "Essay", "max_points": "10"}).content.decode()
    )
    assert office.post(edit, {"title": "Essay 1", "max_points": "18"}).status_code == 302
    column.refresh_from_db()
    assert (column.title, column.max_points, column.version) == ("Essay 1", Decimal(18), 2)
    for url in (_url(Column, "add"), _url(Column, "change", factories.column(world.sheet).pk)):
        page = office.post(url, fields | {"title": "ESSAY 1"})
        assert "already has a column of that title" in page.content.decode()
    assert Event.objects.filter(kind="ColumnChanged").count() == 2


def test_marks_are_for_reading(office: Client, world: World, student: User, teacher: User) -> None:
    save(factories.column(world.sheet), student, "7", by=teacher)
    mark = Mark.objects.get()
    page = office.get(_url(Mark, "change", mark.pk)).content.decode()
    assert 'name="_save"' not in page
    statuses = [
        office.post(url, {"value": "9"}).status_code
        for url in (_url(Mark, "add"), _url(Mark, "change", mark.pk), _url(Mark, "delete", mark.pk))
    ]
    assert statuses == [403, 403, 403]
