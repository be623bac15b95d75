"""The front door, the frame around every page, and what a browser is told about it."""

import re
from typing import Any

import pytest
from django.test import Client

from gradebook.models import User
from tests import factories
from tests.people import World

PASSWORD = "correct horse battery staple"

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(student: User, teacher: User, admin: User) -> dict[str, User]:
    return {"student": student, "teacher": teacher, "admin": admin}


@pytest.mark.parametrize(
    ("who", "home"), [("student", "/exams/"), ("teacher", "/marksheets/"), ("admin", "/admin/")]
)
def test_front_door_leads_to_where_ones_work_is(
    client: Client, people: dict[str, User], who: str, home: str
) -> None:
    client.force_login(people[who])
    answer = client.get("/")
    assert (answer.status_code, answer.headers["Location"]) == (302, home)


@pytest.mark.parametrize("is_staff", [True, False])
def test_front_door_of_a_head_without_rights_in_the_administration_leads_to_the_terms(
    client: Client, world: World, is_staff: bool
) -> None:
    head = factories.admin(school=world.school, is_superuser=False, is_staff=is_staff)
    client.force_login(head)
    page = client.get("/", follow=True)
    assert page.redirect_chain == [("/terms/", 302)]
    assert 'href="/marksheets/"' in page.content.decode()


def test_front_door_asks_strangers_to_sign_in(client: Client) -> None:
    assert client.get("/").headers["Location"] == "/accounts/login/?next=/"


def test_sign_in_leads_to_the_page_one_wanted_and_never_to_another_site(
    client: Client, teacher: User
) -> None:
    teacher.set_password(PASSWORD)
    teacher.save()
    form = {"username": teacher.username, "password": PASSWORD}
    places = {}
    for wanted in ("/marksheets/", "https://evil.example/", "//evil.example/"):
        answer = client.post("/accounts/login/", {**form, "next": wanted})
        places[wanted] = answer.headers["Location"]
        client.logout()
    assert places == {"/marksheets/": "/marksheets/", "https://evil.example/": "/", "//evil.example/": "/"}


def test_failed_sign_in_says_so_and_keeps_the_name(client: Client, teacher: User) -> None:
    page = client.post(
        "/accounts/login/", {"username": teacher.username, "password": "wrong"}
    ).content.decode()
    assert 'role="alert"' in page
    assert f'value="{teacher.username}"' in page
    assert "wrong" not in page


@pytest.mark.parametrize("address", ["/accounts/login/", "/admin/login/"])
def test_guessing_a_password_is_bounded_and_hurts_nobody_else(
    client: Client, admin: User, address: str
) -> None:
    admin.set_password(PASSWORD)
    admin.save()

    def sign_in(password: str, **elsewhere: Any) -> Any:
        return client.post(address, {"username": admin.username, "password": password}, **elsewhere)

    here = {"REMOTE_ADDR": f"10.0.0.{len(address)}"}
    pages = [sign_in("wrong", **here).content.decode() for _ in range(11)]
    assert ["Too many wrong passwords" in page for page in pages] == [*[False] * 10, True]
    assert "Too many wrong passwords" in sign_in(PASSWORD, **here).content.decode()
    assert sign_in(PASSWORD, REMOTE_ADDR="10.0.1.1").status_code == 302


def test_right_passwords_are_never_too_many(client: Client, admin: User) -> None:
    admin.set_password(PASSWORD)
    admin.save()
    form = {"username": admin.username, "password": PASSWORD}
    codes = []
    for _ in range(12):
        codes.append(client.post("/accounts/login/", form, REMOTE_ADDR="10.0.2.1").status_code)
        client.logout()
    assert codes == [302] * 12


def test_administration_tells_those_without_the_right_and_does_not_send_them_round(
    client: Client, teacher: User
) -> None:
    client.force_login(teacher)
    page = client.get("/admin/", follow=True)
    assert page.status_code == 200
    assert "not authorized to access this page" in page.content.decode()


def test_old_name_of_the_icon_leads_to_it(client: Client) -> None:
    assert client.get("/favicon.ico").headers["Location"].startswith("/static/icon")


def test_sign_out_needs_a_form(client: Client, teacher: User) -> None:
    client.force_login(teacher)
    assert client.get("/accounts/logout/").status_code == 405
    assert client.post("/accounts/logout/").headers["Location"] == "/accounts/login/?out=1"
    assert client.get("/").headers["Location"] == "/accounts/login/?next=/"


@pytest.mark.parametrize(
    ("who", "links"),
    [
        ("student", ["Exams", "Report cards"]),
        ("teacher", ["Mark sheets", "Marking"]),
        ("admin", ["Mark sheets", "Terms", "Console", "Administration"]),
    ],
)
def test_header_offers_what_this_person_may_use(
    client: Client, people: dict[str, User], who: str, links: list[str]
) -> None:
    client.force_login(people[who])
    page = client.get("/no-such-page").content.decode()
    nav = re.search(r"<nav.*?</nav>", page, re.DOTALL)
    assert nav is not None
    assert re.findall(r">([A-Z][\w ]+)</a>", nav[0]) == links


@pytest.mark.parametrize("address", ["/accounts/login/", "/no-such-page", "/admin/", "/api/v1/docs"])
def test_page_has_nothing_inline_and_says_so(client: Client, admin: User, address: str) -> None:
    client.force_login(admin)
    if address == "/accounts/login/":
        client.logout()
    answer = client.get(address)
    page = answer.content.decode()
    assert re.findall(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\bsrc=)", page) == []
    assert "'unsafe-inline'" not in answer.headers["Content-Security-Policy"]
    assert {
        name: answer.headers[name]
        for name in ("X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy")
    } == {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",
    }


def test_every_file_a_page_names_is_served(client: Client) -> None:
    page = client.get("/accounts/login/").content.decode()
    addresses = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert len(addresses) >= 10
    answers = [client.get(address) for address in addresses]
    assert [(answer.status_code, answer.content != b"") for answer in answers] == [(200, True)] * len(
        addresses
    )


@pytest.mark.parametrize(
    ("language", "locale"), [("de", "de"), ("fr-CA,fr;q=0.9", "fr"), ("xx", "en"), ("en-GB", "en-gb")]
)
def test_page_says_how_this_person_writes_numbers(client: Client, language: str, locale: str) -> None:
    page = client.get("/accounts/login/", headers={"Accept-Language": language}).content.decode()
    assert f'<html lang="en" data-locale="{locale}" data-time-zone="UTC">' in page


@pytest.mark.parametrize("values", [{"DEBUG": False}, {"DEBUG": True}], ids=str)
def test_unknown_api_address_is_a_problem_also_in_development(
    client: Client, settings: Any, values: dict[str, bool]
) -> None:
    settings.DEBUG = values["DEBUG"]
    answer = client.get("/api/v1/nothing/here")
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")
    assert answer.json()["code"] == "not_found"


def test_wrong_host_is_refused_below_api_as_a_problem(client: Client) -> None:
    answer = client.get("/api/v1/schema", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


def test_schema_is_openapi_3_1(client: Client) -> None:
    schema = client.get("/api/v1/schema", headers={"Accept": "application/vnd.oai.openapi+json"}).json()
    assert schema["openapi"].startswith("3.1")
    assert schema["info"]["title"] == "Handover"


@pytest.mark.parametrize("contact", ["", "access@example.org"])
def test_statement_on_accessibility_names_who_is_told_if_somebody_is(
    client: Client, settings: Any, contact: str
) -> None:
    settings.ACCESSIBILITY_CONTACT = contact
    page = client.get("/accessibility/").content.decode()
    assert re.findall(r'href="mailto:([^"]*)"', page) == ([contact] if contact else [])
    assert '<a href="/accessibility/">' in client.get("/accounts/login/").content.decode()
