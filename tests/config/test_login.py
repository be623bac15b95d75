"""Guessing passwords is bounded by one limit, whichever door is tried."""

import pytest
from django.test import Client

from exams.limits import Buckets
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
