"""Guessing passwords is bounded by one limit, whichever door is tried."""

import pytest
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


def test_names_and_addresses_are_kept_in_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be in a Redis that others read; and a name may be as long as a body, or no Unicode at all."""
    buckets = Buckets(capacity=2, per_second=1 / 30)
    monkeypatch.setattr(sign_in, "guesses", buckets)
    for username in ("ada", "x" * 1_000_000, "\ud83d"):
        assert sign_in.Guess(username=username, address="10.0.0.7").take() == 0

    keys = [str(key) for key in buckets._levels]

    assert [len(key) for key in keys] == [64, 64, 64]
    assert not any(part in key for key in keys for part in ("ada", "10.0.0.7"))


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
