"""What browsers and proxies may keep of an answer: nothing that was said to a person."""

import pytest
from django.test import Client
from django.urls import reverse

from exams.models import Attempt
from gradebook.models import User
from tests import factories
from tests.exams.api.callers import with_token
from tests.people import World
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def addresses(world: World, student: User, teacher: User) -> dict[str, list[str]]:
    """Pages that show somebody's own things, by who may see them."""
    attempt: Attempt = factories.attempt(factories.published_revision(), student)
    receipt = hand_in(attempt)
    sheet = world.sheet.pk
    return {
        "student": [
            "/exams/",
            "/exams/receipts/",
            f"/exams/receipts/{receipt.pk}/",
            f"/exams/receipts/{receipt.pk}/receipt.json",
            f"/exams/attempts/{attempt.pk}/",
        ],
        "teacher": [
            "/marksheets/",
            f"/marksheets/{sheet}/",
            f"/marksheets/{sheet}/history/",
            f"/marksheets/{sheet}/columns/new/",
        ],
    }


@pytest.mark.parametrize("who", ["student", "teacher"])
def test_page_of_a_person_is_kept_nowhere(
    request: pytest.FixtureRequest, client: Client, addresses: dict[str, list[str]], who: str
) -> None:
    client.force_login(request.getfixturevalue(who))
    for address in addresses[who]:
        answer = client.get(address)
        assert answer.status_code in {200, 302}, address
        assert "no-store" in answer.headers["Cache-Control"], address
        assert "private" in answer.headers["Cache-Control"], address


@pytest.mark.parametrize("path", ["exams", "receipts", "attempts/00000000-0000-7000-8000-000000000000"])
def test_answer_to_a_token_is_kept_nowhere(student: User, path: str) -> None:
    assert with_token(student).get(path).headers["Cache-Control"] == "private, no-store"


def test_what_is_everybodys_may_be_kept_as_its_view_says(client: Client, student: User) -> None:
    client.force_login(student)
    answer = client.get(reverse("api-receipt-keys"))
    assert answer.headers["Cache-Control"] == "public, max-age=3600"
    assert "Cache-Control" not in Client().get("/api/v1/schema").headers
