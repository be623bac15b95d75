"""Guessing passwords is bounded by one limit, whichever door is tried."""

from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher, make_password
from django.db.models.functions import Now
from django.test import Client

from exams.limits.buckets import Buckets
from exams.services import sign_in
from gradebook.models import User
from tests import factories
from tests.exams.api.callers import Caller

pytestmark = pytest.mark.django_db


def test_both_doors_count_the_same_guesses(
    client: Client, student: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in, "guesses", Buckets(capacity=2, per_second=1 / 30))

    def by_api(password: str) -> int:
        return int(Caller().post("tokens", {"username": "student", "password": password}).status_code)

    def by_page(password: str) -> bool:
        form = {"username": "STUDENT", "password": password}
        return "Too many wrong passwords" in client.post("/accounts/login/", form).content.decode()

    assert (by_api("guess"), by_page("guess")) == (401, False)
    assert (by_api(factories.PASSWORD), by_page(factories.PASSWORD)) == (429, True)


@pytest.mark.parametrize(
    "spelling",
    [
        "  student",
        "student\t\n",
        "\u3000student",
        "\uff53\uff54udent",
        "studen\U0001d42d",
        " " * 200 + "student",
    ],
)
def test_other_spelling_of_a_name_that_signs_in_as_the_same_person_counts_as_it(
    client: Client, student: User, monkeypatch: pytest.MonkeyPatch, spelling: str
) -> None:
    """Django's form strips blanks and composes characters: each of these would be ten guesses more at one person."""
    monkeypatch.setattr(sign_in, "guesses", Buckets(capacity=1, per_second=1 / 30))
    form = {"username": spelling, "password": factories.PASSWORD}
    client.post("/accounts/login/", {"username": "student", "password": "guess"})
    assert "Too many wrong passwords" in client.post("/accounts/login/", form).content.decode()


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("192.0.2.7", "192.0.2.8", False),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.8", False),  # how a server of both families sees IPv4
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("", "192.0.2.7", False),
    ],
)
def test_addresses_that_one_household_chooses_among_are_one(
    monkeypatch: pytest.MonkeyPatch, one: str, other: str, is_same: bool
) -> None:
    monkeypatch.setattr(sign_in, "guesses", Buckets(capacity=1, per_second=1 / 30))
    assert sign_in.Guess(username="ada", address=one).take() == 0
    assert (sign_in.Guess(username="ada", address=other).take() > 0) is is_same


def test_names_and_addresses_are_kept_in_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be in a Redis that others read; and a name may be as long as a body, or no Unicode at all."""
    buckets = Buckets(capacity=2, per_second=1 / 30)
    monkeypatch.setattr(sign_in, "guesses", buckets)
    for username in ("ada", "x" * 1_000_000, "\ud83d"):
        assert sign_in.Guess(username=username, address="10.0.0.7").take() == 0

    keys = [str(key) for key in buckets._levels]

    assert [len(key) for key in keys] == [64, 64, 64]
    assert not any(part in key for key in keys for part in ("ada", "10.0.0.7"))


def _is_signed_in(browser: Client) -> bool:
    return browser.get("/exams/").status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        {"is_active": False},
        {"password": make_password("another one")},
        {"role": "teacher"},
        {"tokens_valid_after": Now()},
    ],
    ids=lambda change: next(iter(change)),
)
def test_session_ends_with_whatever_revokes_tokens(
    client: Client, student: User, change: dict[str, Any]
) -> None:
    """Also where all is as it was a moment later: who was switched off and on again, or whose device was stolen."""
    client.force_login(student)
    before = {"is_active": True, "password": student.password, "role": "student"}
    assert _is_signed_in(client)
    User.objects.filter(pk=student.pk).update(**change)
    User.objects.filter(pk=student.pk).update(**before)
    assert not _is_signed_in(client)
    client.post("/accounts/login/", {"username": "student", "password": factories.PASSWORD})
    assert _is_signed_in(client)


def test_session_ends_with_the_browser(client: Client, student: User) -> None:
    """The next one at a computer of the school must not be whoever forgot to sign out."""
    client.post("/accounts/login/", {"username": "student", "password": factories.PASSWORD})
    cookie = client.cookies["sessionid"]
    assert (_is_signed_in(client), cookie["max-age"], cookie["expires"]) == (True, "", "")


def test_new_password_ends_the_sessions_elsewhere_and_not_the_one_here(client: Client, student: User) -> None:
    elsewhere = Client()
    for browser in (client, elsewhere):
        browser.force_login(student)
    new = "a long new sentence"
    form = {"old_password": factories.PASSWORD, "new_password1": new, "new_password2": new}
    assert client.post("/accounts/password/", form).status_code == 302
    assert (_is_signed_in(client), _is_signed_in(elsewhere)) == (True, False)


def test_password_that_is_hashed_anew_at_sign_in_leaves_one_signed_in(client: Client, student: User) -> None:
    """As after an upgrade of Django, which asks for more rounds: to the database that is a new password."""
    weak = make_password(factories.PASSWORD, hasher=OneRound())
    User.objects.filter(pk=student.pk).update(password=weak)
    client.post("/accounts/login/", {"username": "student", "password": factories.PASSWORD})
    assert (_is_signed_in(client), User.objects.get(pk=student.pk).password != weak) == (True, True)


class OneRound(PBKDF2PasswordHasher):
    """Django's, as it was long ago."""

    iterations = 1


class TestChangePassword:
    """Everybody changes their own."""

    URL = "/accounts/password/"

    def _form(self, old: str, new: str = "a long new sentence") -> dict[str, str]:
        return {"old_password": old, "new_password1": new, "new_password2": new}

    def test_new_password_counts_and_the_old_one_does_not(self, client: Client, student: User) -> None:
        client.force_login(student)
        assert client.get(self.URL).status_code == 200
        assert client.post(self.URL, self._form(factories.PASSWORD)).headers["Location"] == "/"
        student.refresh_from_db()
        assert (student.check_password("a long new sentence"), student.tokens_valid_after is None) == (
            True,
            False,
        )
        assert client.get("/exams/").status_code == 200  # still signed in here

    def test_weak_password_and_wrong_old_one_are_named(self, client: Client, student: User) -> None:
        client.force_login(student)
        page = client.post(self.URL, self._form("wrong", "123")).content.decode()
        assert ("entered incorrectly" in page, "too short" in page) == (True, True)

    def test_old_password_is_guessed_at_no_more_often_than_at_the_door(
        self, client: Client, student: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sign_in, "guesses", Buckets(capacity=1, per_second=1 / 30))
        client.force_login(student)
        client.post(self.URL, self._form("wrong"))
        assert (
            "Too many wrong passwords"
            in client.post(self.URL, self._form(factories.PASSWORD)).content.decode()
        )

    def test_administration_has_no_second_door_to_it(self, client: Client) -> None:
        client.force_login(factories.admin())
        answer = client.post("/admin/password_change/", self._form(factories.PASSWORD))
        assert (answer.status_code, answer.headers["Location"]) == (302, self.URL)

    def test_strangers_sign_in_first(self, client: Client) -> None:
        assert client.get(self.URL).headers["Location"] == f"/accounts/login/?next={self.URL}"


def test_signing_out_says_so(client: Client, student: User) -> None:
    client.force_login(student)
    page = client.post("/accounts/logout/", follow=True).content.decode()
    assert "You are signed out." in page
    assert "Please sign in to see that page." not in client.get("/accounts/login/?next=/").content.decode()


@pytest.mark.parametrize(
    "path", ["/admin/outbox/consumer/%00/change/", "/admin/outbox/retrybudget/a%00/change/", "/%00"]
)
def test_address_with_a_nul_names_nothing(client: Client, path: str) -> None:
    client.force_login(factories.admin())
    assert client.get(path).status_code == 404
