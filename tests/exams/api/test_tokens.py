"""Signing in over the API: a token for a name and password, or for whoever is signed in on a page, and a bound on guessing."""

import datetime as dt
from typing import Any

import pytest
from django.contrib.auth.hashers import BasePasswordHasher, get_hasher
from django.test import Client

from exams import tokens
from exams.limits.buckets import Buckets
from exams.services import sign_in
from gradebook.models import User
from tests import factories
from tests.exams.api.callers import Caller, give_csrf_cookie, read, refused, with_session, with_token

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests have guessed passwords too; and checking one is slow on purpose, so three guesses are enough here."""
    monkeypatch.setattr(sign_in, "guesses", Buckets(capacity=3, per_second=1 / 30))


def ask(username: str, password: str = factories.PASSWORD, caller: Caller | None = None) -> Any:
    return (caller or Caller()).post("tokens", {"username": username, "password": password})


@pytest.mark.parametrize("role", ["student", "teacher", "admin"])
def test_a_name_and_its_password_are_worth_a_token(role: str) -> None:
    person: User = getattr(factories, role)()

    response = ask(person.username)

    body = read(response, 201)
    claims = tokens.verify(body["access"])
    assert (claims.user_id, claims.role, claims.school_id) == (person.pk, role, person.school_id)
    assert dt.datetime.fromisoformat(body["expires_at"]).timestamp() == pytest.approx(
        claims.expires_at, abs=1e-3
    )
    assert body.keys() == {"access", "expires_at"}
    assert response["Cache-Control"] == "no-store"


def test_a_token_opens_the_api(student: User) -> None:
    access = read(ask("student"), 201)["access"]
    assert read(Caller(access).get("exams"), 200) == []


@pytest.mark.parametrize("wrong", ["password", "name", "case of the password", "switched off"])
def test_whatever_is_wrong_the_refusal_is_the_same(student: User, wrong: str) -> None:
    name, password = "student", factories.PASSWORD
    match wrong:
        case "password":
            password = "guess"
        case "name":
            name = "nobody-of-this-name"
        case "case of the password":
            password = password.upper()
        case "switched off":
            User.objects.update(is_active=False)

    response = ask(name, password)

    assert refused(response, 401) == {
        "type": "urn:handover:problem:invalid_credentials",
        "title": "This username and password do not belong together.",
        "status": 401,
        "detail": "This username and password do not belong together.",
        "code": "invalid_credentials",
    }
    assert response["WWW-Authenticate"] == "Bearer"


def test_an_unknown_name_costs_one_hash_like_a_wrong_password(
    student: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted, not timed: Django's hashers are asked once in either case."""
    hashed: list[str] = []
    hasher = type(get_hasher())
    encode = hasher.encode

    def count(self: BasePasswordHasher, password: str, *rest: Any) -> str:
        hashed.append(password)
        return encode(self, password, *rest)

    monkeypatch.setattr(hasher, "encode", count)
    for name in ("student", "nobody-of-this-name"):
        hashed.clear()
        ask(name, "guess")
        assert hashed == ["guess"]


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, ["/password", "/username"]),
        (None, ["/password", "/username"]),
        ({"username": "student"}, ["/password"]),
        ({"password": "x"}, ["/username"]),
        ({"username": "", "password": ""}, ["/username", "/password"]),
        ({"username": None, "password": ["x"]}, ["/username", "/password"]),
        ({"username": "x" * 151, "password": "x" * 1025}, ["/username", "/password"]),
        ({"username": {"$ne": ""}, "password": True}, ["/username", "/password"]),
    ],
)
def test_a_body_that_is_no_sign_in_is_refused_by_its_places(body: Any, pointers: list[str]) -> None:
    problem = refused(Caller().post("tokens", body), 400)
    assert problem["code"] == "malformed"
    assert [error["pointer"] for error in problem["errors"]] == pointers


def test_guessing_is_slowed_down_for_that_name_from_that_address(student: User, other_student: User) -> None:
    for _ in range(3):
        refused(ask("student", "guess"), 401)

    response = ask("student")

    assert refused(response, 429)["code"] == "rate_limited"
    assert 1 <= int(response["Retry-After"]) <= 30
    read(ask("other_student"), 201)
    from_elsewhere = Caller(client=Client(REMOTE_ADDR="192.0.2.7"))
    read(ask("student", caller=from_elsewhere), 201)


def test_another_spelling_of_the_name_is_the_same_name(student: User) -> None:
    for name in ("student", "STUDENT", "sTUDENT"):
        refused(ask(name, "guess"), 401)
    refused(ask("Student", "guess"), 429)


def test_signing_in_rightly_costs_nothing(student: User) -> None:
    for _ in range(5):
        read(ask("student"), 201)


def test_a_page_gets_a_token_for_whoever_is_signed_in(student: User) -> None:
    caller = with_session(student)
    csrf = give_csrf_cookie(caller.client)

    body = read(caller.post("tokens", {}, **{"x-csrftoken": csrf}), 201)

    assert tokens.verify(body["access"]).user_id == student.pk


def test_another_sites_page_gets_no_token(student: User) -> None:
    assert refused(with_session(student).post("tokens", {}), 403)["code"] == "permission_denied"


def test_a_token_is_not_worth_another_token(student: User) -> None:
    assert refused(with_token(student).post("tokens", {}), 400)["code"] == "malformed"
