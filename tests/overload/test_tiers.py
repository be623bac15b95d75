"""Every address there is has a tier, chosen on purpose: a new one fails here until somebody has thought about it."""

import re
from collections.abc import Iterator
from uuid import UUID

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from config.admission.tiers import STAFF, STUDENTS, Tier, classify

SUBMIT, WORK, STATUS, TEACHING, REST, BASICS = Tier
SOME = str(UUID(int=7))

# Route → tier of reading (GET, HEAD, OPTIONS) and of everything else.
PLACED = {
    "": (WORK, WORK),
    "accounts/login/": (WORK, WORK),
    "accounts/logout/": (STATUS, STATUS),
    "accounts/password/": (STATUS, STATUS),
    "accessibility/": (REST, REST),
    "favicon.ico": (BASICS, BASICS),
    "healthz": (BASICS, BASICS),
    "readyz": (BASICS, BASICS),
    "metrics": (BASICS, BASICS),
    "api/v1/schema": (REST, REST),
    "api/v1/docs": (REST, REST),
    "api/v1/tokens": (WORK, WORK),
    "api/v1/exams": (WORK, WORK),
    "api/v1/exams/<uuid:exam_id>/attempts": (STATUS, WORK),
    "api/v1/attempts/<uuid:attempt_id>": (WORK, WORK),
    "api/v1/attempts/<uuid:attempt_id>/standing": (STATUS, STATUS),
    "api/v1/attempts/<uuid:attempt_id>/draft": (WORK, WORK),
    "api/v1/attempts/<uuid:attempt_id>/submission": (STATUS, SUBMIT),
    "api/v1/attempts/<uuid:attempt_id>/attachments": (WORK, WORK),
    "api/v1/attempts/<uuid:attempt_id>/attachments/<uuid:version_id>": (WORK, WORK),
    "api/v1/attachments/<uuid:version_id>/<str:rendition>": (STATUS, STATUS),
    "api/v1/receipts": (STATUS, STATUS),
    "api/v1/receipts/<uuid:receipt_id>": (STATUS, STATUS),
    "api/v1/notifications": (STATUS, STATUS),
    "api/v1/notifications/unread": (STATUS, STATUS),
    "api/v1/notifications/read": (STATUS, STATUS),
    "api/v1/receipt-keys": (STATUS, STATUS),
    "exams/": (WORK, WORK),
    "exams/marking/": (TEACHING, TEACHING),
    "exams/marking/<uuid:exam_id>/": (TEACHING, TEACHING),
    "exams/receipts/": (STATUS, STATUS),
    "exams/receipts/<uuid:receipt_id>/": (STATUS, STATUS),
    "exams/receipts/<uuid:receipt_id>/receipt.json": (STATUS, STATUS),
    "exams/attempts/<uuid:attempt_id>/": (WORK, WORK),
    "exams/<uuid:exam_id>/": (WORK, WORK),
    "exams/<uuid:exam_id>/attempts/": (WORK, WORK),
    "notifications/": (STATUS, STATUS),
    "notifications/read/": (STATUS, STATUS),
    "notifications/<uuid:notification_id>/": (STATUS, STATUS),
    "marksheets/": (TEACHING, TEACHING),
    "marksheets/<uuid:sheet_id>/": (TEACHING, TEACHING),
    "marksheets/<uuid:sheet_id>/marks": (TEACHING, TEACHING),
    "marksheets/<uuid:sheet_id>/columns/new/": (TEACHING, TEACHING),
    "marksheets/<uuid:sheet_id>/totals/": (TEACHING, TEACHING),
    "marksheets/<uuid:sheet_id>/totals/rules/": (TEACHING, TEACHING),
    "marksheets/<uuid:sheet_id>/import/": (TEACHING, TEACHING),
    "marksheets/<uuid:sheet_id>/marks.csv": (REST, REST),
    "marksheets/<uuid:sheet_id>/marks.xlsx": (REST, REST),
    "marksheets/<uuid:sheet_id>/amendments/": (TEACHING, TEACHING),
    "amendments/<uuid:amendment_id>/": (TEACHING, TEACHING),
    "terms/<uuid:period_id>/cards/": (REST, REST),
    "terms/<uuid:period_id>/cards/<uuid:class_id>/": (REST, REST),
    "terms/<uuid:period_id>/cards/<uuid:class_id>/archive.zip": (REST, REST),
    "terms/<uuid:period_id>/cards/<uuid:class_id>/list.pdf": (REST, REST),
    "terms/<uuid:period_id>/cards/<uuid:class_id>/list/": (REST, REST),
    "cards/": (REST, REST),
    "cards/<uuid:card_id>/": (REST, REST),
    "cards/<uuid:card_id>/card.pdf": (REST, REST),
    "verify/": (REST, REST),
    "terms/": (TEACHING, TEACHING),
    "terms/<uuid:period_id>/": (TEACHING, TEACHING),
    "marksheets/<uuid:sheet_id>/columns/<uuid:column_id>/": (TEACHING, TEACHING),
    "marksheets/<uuid:sheet_id>/history/": (REST, REST),
    "marksheets/<uuid:sheet_id>/analytics/": (REST, REST),
    "marksheets/<uuid:sheet_id>/as-of/": (REST, REST),
    "exams/<uuid:exam_id>/analytics/": (REST, REST),
    "marksheets/<uuid:sheet_id>/history/cells/<uuid:column_id>/<uuid:student_id>/": (REST, REST),
    "^api/(?P<rest>.*)$": (REST, REST),
}
WHOLE = ("admin/", "console/")  # everything below is for operators, and goes first when it is busy


def list_routes(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route
        else:
            yield from list_routes(pattern, route)


def make_path(route: str) -> str:
    return "/" + re.sub(r"<[^>]*>", SOME, route).replace(f"^api/(?P{SOME}.*)$", "api/none")


def test_every_address_is_placed_once() -> None:
    routes = {route for route in list_routes(get_resolver()) if not route.startswith(WHOLE)}
    assert routes == set(PLACED)


@pytest.mark.parametrize("route", PLACED)
def test_address_has_its_tier_for_reading_and_for_writing(route: str) -> None:
    path = make_path(route)
    reading = {classify(method, path) for method in ("GET", "HEAD", "OPTIONS")}
    writing = {classify(method, path) for method in ("POST", "PUT", "PATCH", "DELETE")}
    assert (reading, writing) == ({PLACED[route][0]}, {PLACED[route][1]})


@pytest.mark.parametrize(
    ("method", "path", "tier"),
    [
        ("GET", "/static/exams/sitting.js", BASICS),
        ("GET", "/admin/", REST),
        ("POST", "/admin/exams/exam/add/", REST),
        ("GET", "/console/", REST),
        ("GET", "/nowhere", REST),
        ("POST", f"/api/v1/attempts/{SOME}/submission/", STATUS),
        ("POST", f"/x/api/v1/attempts/{SOME}/submission", REST),
        ("GET", f"/marksheets/{SOME}/history", TEACHING),
        ("BREW", "/healthz", BASICS),
    ],
)
def test_address_that_is_no_route_has_the_tier_of_its_kind(method: str, path: str, tier: Tier) -> None:
    assert classify(method, path) is tier


def test_every_tier_is_served_by_somebody() -> None:
    assert {*STUDENTS, *STAFF, SUBMIT, BASICS} == set(Tier)
