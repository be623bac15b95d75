"""The administration for staff of one school: they find their own school there, nobody else's, and no way up."""

from typing import Any

import pytest
from django.contrib import admin as django_admin
from django.contrib.auth.models import Group, Permission
from django.test import Client
from django.urls import reverse

from gradebook.models import Enrolment, Role, School, User
from outbox.models import WebhookEndpoint
from tests import factories
from tests.gradebook.everything import fill_every_table
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)

MODELS = [model for model in django_admin.site._registry if model._meta.app_label == "gradebook"]
OPERATORS_ONLY = [  # all but webhook endpoints: of those an office has its own school's (tests/relay/test_webhooks_admin.py)
    model
    for model in django_admin.site._registry
    if model._meta.app_label in {"outbox", "projections"} and model is not WebhookEndpoint
]


@pytest.fixture
def lake_office(client: Client, world: World) -> Client:
    """A browser of the other school's administrator, who may do everything there."""
    client.force_login(factories.admin(username="lake_admin", school=world.other_school))
    return client


@pytest.fixture
def hill_clerk(world: World) -> User:
    """Staff of the school, with every permission there is, but no superuser."""
    clerk = factories.admin(username="clerk", school=world.school, is_superuser=False)
    clerk.user_permissions.set(Permission.objects.all())
    return clerk


@pytest.fixture
def hill_office(client: Client, hill_clerk: User) -> Client:
    """The clerk's browser."""
    client.force_login(hill_clerk)
    return client


def _url(model: type, page: str, *args: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)  # type: ignore[attr-defined]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_rows_of_another_school_are_neither_listed_nor_opened(
    lake_office: Client, world: World, teacher: User, student: User, model: type
) -> None:
    fill_every_table(world, student, teacher)
    theirs = [world.school] if model is School else list(_rows_of(model, world.school))
    assert theirs
    listed = lake_office.get(_url(model, "changelist")).content.decode()
    for row in theirs:
        assert str(row.pk) not in listed
        assert lake_office.get(_url(model, "change", row.pk)).status_code == 302


def _rows_of(model: type, school: School) -> Any:
    path = django_admin.site._registry[model].school_path  # type: ignore[attr-defined]
    return model._default_manager.filter(**{path: school})  # type: ignore[attr-defined]


def test_own_rows_are_listed(hill_office: Client, world: World, teacher: User, student: User) -> None:
    fill_every_table(world, student, teacher)
    for model in MODELS:
        listed = hill_office.get(_url(model, "changelist")).content.decode()
        row = world.school if model is School else _rows_of(model, world.school).first()
        assert str(row.pk) in listed, model


def test_search_for_related_rows_finds_ones_own_school(
    lake_office: Client, student: User, world: World
) -> None:
    found = lake_office.get(
        reverse("admin:autocomplete"),
        {"app_label": "gradebook", "model_name": "enrolment", "field_name": "student", "term": "student"},
    )
    assert found.json()["results"] == []


def test_person_of_another_school_is_no_choice(lake_office: Client, world: World, student: User) -> None:
    mine = factories.school_class(world.other_school)
    page = lake_office.post(
        _url(Enrolment, "add"),
        {"student": str(student.pk), "school_class": str(mine.pk), "starts_on": "2026-09-01"},
    )
    assert "not one of the available choices" in page.content.decode()


@pytest.mark.parametrize("office", ["hill_office", "lake_office"])
def test_rights_are_not_given_by_staff_of_a_school(
    request: pytest.FixtureRequest, office: str, world: World
) -> None:
    school = world.school if office == "hill_office" else world.other_school
    person = factories.teacher(school, username="climber")
    fields = {
        "username": "climber",
        "role": "teacher",
        "school": str(school.pk),
        "is_active": "on",
        "is_staff": "on",
        "is_superuser": "on",
        "user_permissions": [str(pk) for pk in Permission.objects.values_list("pk", flat=True)[:3]],
    }
    assert request.getfixturevalue(office).post(_url(User, "change", person.pk), fields).status_code == 302
    person.refresh_from_db()
    assert (person.is_staff, person.is_superuser, person.user_permissions.count()) == (False, False, 0)


@pytest.mark.parametrize("office", ["hill_office", "lake_office"])
def test_staff_of_a_school_make_no_other_school(request: pytest.FixtureRequest, office: str) -> None:
    browser: Client = request.getfixturevalue(office)
    form = {"name": "Third School", "time_zone": "UTC"}
    assert browser.post(_url(School, "add"), form).status_code == 403
    assert not School.objects.filter(name="Third School").exists()


def test_staff_of_a_school_make_nobody_without_one(hill_office: Client) -> None:
    fields = {
        "username": "everywhere",
        "usable_password": "true",
        "password1": factories.PASSWORD,
        "password2": factories.PASSWORD,
        "role": "admin",
    }
    assert "This field is required." in hill_office.post(_url(User, "add"), fields).content.decode()
    assert not User.objects.filter(username="everywhere").exists()


def test_whoever_may_do_more_keeps_their_password(hill_office: Client, world: World) -> None:
    above = factories.admin(username="head", school=world.school)
    before = above.password
    new = {"usable_password": "true", "password1": "a-new-one-2026", "password2": "a-new-one-2026"}
    assert (
        hill_office.post(reverse("admin:auth_user_password_change", args=[above.pk]), new).status_code == 403
    )
    above.refresh_from_db()
    assert above.password == before
    assert hill_office.post(_url(User, "delete", above.pk), {"post": "yes"}).status_code == 403


@pytest.fixture
def registrar(client: Client, world: World) -> Client:
    """The browser of somebody who keeps the people of the school, and administers nothing else."""
    person = factories.teacher(world.school, username="registrar", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename__endswith="_user"))
    client.force_login(person)
    return client


@pytest.mark.parametrize("is_active", [True, False])
@pytest.mark.parametrize("more", ["role", "permission", "group"])
def test_whoever_may_do_more_in_any_way_is_not_touched(
    registrar: Client, world: World, more: str, is_active: bool
) -> None:
    """Who is switched off too: whoever may switch them on and set their password is them."""
    role = Role.ADMIN if more == "role" else Role.TEACHER
    above = factories.teacher(
        world.school, username="above", is_staff=more != "role", is_active=is_active, role=role
    )
    exams = Permission.objects.get(codename="change_exam")
    if more == "permission":
        above.user_permissions.add(exams)
    elif more == "group":
        above.groups.add(Group.objects.create(name="Examiners"))
        above.groups.get().permissions.add(exams)
    new = {"usable_password": "true", "password1": "a-new-one-2026", "password2": "a-new-one-2026"}
    answers = [
        registrar.post(reverse("admin:auth_user_password_change", args=[above.pk]), new),
        registrar.post(_url(User, "change", above.pk), {"username": "above", "is_active": "on"}),
        registrar.post(_url(User, "delete", above.pk), {"post": "yes"}),
    ]
    assert [answer.status_code for answer in answers] == [403, 403, 403]
    registrar.post(
        _url(User, "changelist"),
        {"action": "delete_selected", "_selected_action": [str(above.pk)], "post": "yes"},
    )
    assert User.objects.get(pk=above.pk).password == above.password


def test_equals_and_lesser_people_are_changed(registrar: Client, world: World) -> None:
    equal = factories.teacher(world.school, username="equal", is_staff=True)
    equal.user_permissions.set(Permission.objects.filter(codename="view_user"))
    new = {"usable_password": "true", "password1": "a-new-one-2026", "password2": "a-new-one-2026"}
    answer = registrar.post(reverse("admin:auth_user_password_change", args=[equal.pk]), new)
    assert (answer.status_code, User.objects.get(pk=equal.pk).check_password("a-new-one-2026")) == (302, True)


def test_whoever_may_do_more_is_not_signed_out(registrar: Client, world: World) -> None:
    above, equal = factories.admin(username="above", school=world.school), factories.teacher(world.school)
    chosen = {"action": "sign_out_everywhere", "_selected_action": [str(above.pk), str(equal.pk)]}
    page = registrar.post(_url(User, "changelist"), chosen, follow=True).content.decode()
    assert "Signed out everywhere: 1." in page
    assert User.objects.get(pk=above.pk).tokens_valid_after is None


@pytest.mark.parametrize("whom", ["registrar", "climber"])
def test_role_of_an_administrator_is_given_by_administrators(
    registrar: Client, world: World, whom: str
) -> None:
    factories.teacher(world.school, username="climber")
    person = User.objects.get(username=whom)
    form = {"username": whom, "role": "admin", "school": str(world.school.pk), "is_active": "on"}
    page = registrar.post(_url(User, "change", person.pk), form).content.decode()
    assert "admin is not one of the available choices" in page
    new = {"usable_password": "true", "password1": factories.PASSWORD, "password2": factories.PASSWORD}
    registrar.post(_url(User, "add"), {**form, **new, "username": "new"})
    assert list(User.objects.filter(role=Role.ADMIN)) == []


@pytest.mark.parametrize("model", OPERATORS_ONLY, ids=lambda model: model.__name__)
def test_log_and_queue_of_all_schools_are_for_operators(lake_office: Client, model: type) -> None:
    assert lake_office.get(_url(model, "changelist")).status_code == 403


@pytest.mark.parametrize("office", ["hill_office", "lake_office"])
def test_groups_of_rights_are_for_operators(request: pytest.FixtureRequest, office: str) -> None:
    group = Group.objects.create(name="Everything")
    browser = request.getfixturevalue(office)
    pages = [_url(Group, "changelist"), _url(Group, "add"), _url(Group, "change", group.pk)]
    assert [browser.get(page).status_code for page in pages] == [403, 403, 403]


@pytest.mark.parametrize("page", ["exam", "attempt"])
def test_filters_do_not_name_what_another_school_has(lake_office: Client, world: World, page: str) -> None:
    names = []
    for number in (1, 2):  # a filter with one choice is not shown
        course = factories.course(world.school, title=f"Secret course {number}")
        period = factories.period(world.school, name=f"Secret period {number}")
        exam = factories.exam(
            school=world.school, course=course, period=period, title=f"Secret exam {number}"
        )
        factories.attempt(factories.published_revision(exam), factories.student(world.school))
        names += [course.title, period.name, exam.title]
    listed = lake_office.get(reverse(f"admin:exams_{page}_changelist")).content.decode()
    assert [name for name in names if name in listed] == []


def test_operator_belongs_to_no_school(world: World) -> None:
    people = [
        factories.admin(),
        factories.admin(school=world.school),
        factories.admin(is_superuser=False),
        factories.admin(is_active=False),
    ]
    assert [person.is_operator for person in people] == [True, False, False, False]
    assert [person.administered_tenant for person in people] == [None, world.school.pk, None, None]
    assert {person.role for person in people} == {Role.ADMIN}


def test_operator_is_told_whose_choice_each_is(client: Client, world: World) -> None:
    client.force_login(factories.admin())
    page = client.get(reverse("admin:exams_exam_add")).content.decode()
    assert f"{world.course} (Hill School)</option>" in page
    assert f"{world.period} (Hill School)</option>" in page


def test_staff_of_a_school_are_not(hill_office: Client, world: World) -> None:
    page = hill_office.get(reverse("admin:exams_exam_add")).content.decode()
    assert f"{world.course}</option>" in page
