"""Every error below /api/ becomes the same kind of body, whoever raised it."""

from typing import Any

import pytest
from django.test import Client

pytestmark = [pytest.mark.urls("tests.config.raising_urls"), pytest.mark.django_db]


@pytest.fixture
def api() -> Client:
    return Client(raise_request_exception=False)


def ask(api: Client, address: str) -> tuple[int, str, dict[str, Any]]:
    answer = api.get(address)
    return answer.status_code, answer.headers["Content-Type"], answer.json()


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("malformed", 400, "malformed"),
        ("overloaded", 503, "overloaded"),
        ("sheet", 404, "sheet_not_found"),
        ("fields", 400, "malformed"),
        ("parse", 400, "malformed"),
        ("login", 401, "not_authenticated"),
        ("forbidden", 403, "permission_denied"),
        ("missing", 404, "not_found"),
        ("throttled", 429, "rate_limited"),
        ("media", 415, "unsupported_media_type"),
        ("big", 413, "too_large"),
        ("suspicious", 400, "malformed"),
        ("bad", 400, "malformed"),
        ("text", 400, "malformed"),
        ("bug", 500, "internal_error"),
        ("away", 503, "overloaded"),
        ("wrong", 500, "internal_error"),
    ],
)
def test_error_in_an_api_view_becomes_a_problem(api: Client, name: str, status: int, code: str) -> None:
    found_status, content_type, body = ask(api, f"/api/rest/{name}")
    assert (found_status, content_type) == (status, "application/problem+json")
    assert {key: body[key] for key in ("status", "code", "type")} == {
        "status": status,
        "code": code,
        "type": f"urn:handover:problem:{code}",
    }
    assert body["title"]
    assert body["detail"]


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("forbidden", 403, "permission_denied"),
        ("missing", 404, "not_found"),
        ("suspicious", 400, "malformed"),
        ("bad", 400, "malformed"),
        ("big", 413, "too_large"),
        ("bug", 500, "internal_error"),
        ("away", 503, "overloaded"),
        ("wrong", 500, "internal_error"),
    ],
)
def test_error_in_a_plain_view_becomes_a_problem_below_api_and_a_page_elsewhere(
    api: Client, name: str, status: int, code: str
) -> None:
    found_status, content_type, body = ask(api, f"/api/plain/{name}")
    assert (found_status, content_type, body["code"]) == (status, "application/problem+json", code)
    page = api.get(f"/page/{name}")
    assert (page.status_code, page.headers["Content-Type"]) == (status, "text/html; charset=utf-8")
    assert "<h1>" in page.content.decode()


def test_problem_names_each_field_that_drf_refused(api: Client) -> None:
    _, _, body = ask(api, "/api/rest/fields")
    assert body["errors"] == [
        {"pointer": "/name", "detail": "Too long.", "code": "invalid"},
        {"pointer": "/items/1/a~1b", "detail": "Bad.", "code": "invalid"},
        {"pointer": "", "detail": "Whole.", "code": "invalid"},
    ]


def test_problem_says_when_to_come_back(api: Client) -> None:
    assert api.get("/api/rest/overloaded").headers["Retry-After"] == "4"
    assert api.get("/api/rest/throttled").headers["Retry-After"] == "3"


def test_wrong_method_names_the_right_ones(api: Client) -> None:
    answer = api.delete("/api/rest/parse")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


def test_refused_sign_in_says_how_to_sign_in(api: Client) -> None:
    assert api.get("/api/rest/login").headers["WWW-Authenticate"] == "Bearer"


def test_client_that_asks_for_html_gets_json(api: Client) -> None:
    answer = api.get("/api/rest/parse", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "application/problem+json")


def test_bug_says_nothing_about_our_insides(api: Client) -> None:
    for address in ("/api/rest/bug", "/api/plain/bug", "/page/bug"):
        assert "ZeroDivision" not in api.get(address).content.decode()


def test_form_from_elsewhere_is_refused_with_advice() -> None:
    answer = Client(enforce_csrf_checks=True).post("/form")
    assert answer.status_code == 403
    assert "reload it" in answer.content.decode()


def test_database_that_goes_away_under_a_change_leaves_its_outcome_unknown(api: Client) -> None:
    answer = api.post("/api/plain/away")
    assert (answer.status_code, answer.json()["code"]) == (503, "outcome_unknown")
    assert "It may or may not have been done." in api.post("/page/away").content.decode()
