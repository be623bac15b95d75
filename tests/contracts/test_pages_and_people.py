"""S4 for pages: every address that is no part of the API, asked by every kind of person. One without an expectation here fails, so none is forgotten.

The API's own table is in `test_people`. Who may not see a page changes nothing through it either, whatever the method; the administration,
whose pages are Django's, lets in nobody but staff.
"""

import re
from collections.abc import Iterator, Mapping
from uuid import uuid4

import pytest
from django.db import transaction
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import get_resolver

from exams.models import Attempt, Exam
from gradebook.models import Amendment, Column, Notification, ReportCard, User
from gradebook.services.cards import release_cards
from gradebook.services.notifications import notify
from outbox.db import database_now
from outbox.models import DeadLetter, EffectReceipt
from outbox.models.log import Event
from tests import factories
from tests.contracts.endpoints import walk
from tests.gradebook.everything import fill_every_table
from tests.people import World
from tests.sitting import hand_in

# nobody who signed in; the student it is about, and another one of the class; the teacher of the sheet, of another class, of another school;
# the administrator of the school, and of another; the operator
WHO = ("nobody", "student", "mate", "teacher", "colleague", "stranger", "office", "far_office", "operator")
EXPECTED = {
    "": "in 302 302 302 302 302 302 302 302",
    "accounts/login/": "200 302 302 302 302 302 302 302 302",
    "accounts/logout/": "405 405 405 405 405 405 405 405 405",
    "accounts/password/": "in 200 200 200 200 200 200 200 200",
    "accessibility/": "200 200 200 200 200 200 200 200 200",
    "favicon.ico": "302 302 302 302 302 302 302 302 302",
    "healthz": "503 503 503 503 503 503 503 503 503",
    "readyz": "200 200 200 200 200 200 200 200 200",
    "metrics": "200 200 200 200 200 200 200 200 200",
    "console/": "in 404 404 404 404 404 404 404 200",
    "console/live/": "in 404 404 404 404 404 404 404 200",
    "console/exams/<uuid:exam_id>/": "in 404 404 404 404 404 404 404 200",
    "console/dead-letters/": "in 404 404 404 404 404 404 404 200",
    "console/dead-letters/<uuid:letter_id>/": "in 404 404 404 404 404 404 404 200",
    "console/effects/<int:receipt_id>/": "in 404 404 404 404 404 404 404 200",
    "console/consumers/<slug:name>/": "in 404 404 404 404 404 404 404 200",
    "exams/": "in 200 200 404 404 404 404 404 404",
    "exams/marking/": "in 404 404 200 200 200 404 404 404",
    "exams/marking/<uuid:exam_id>/": "in 404 404 200 404 404 404 404 404",
    "exams/receipts/": "in 200 200 404 404 404 404 404 404",
    "exams/receipts/<uuid:receipt_id>/": "in 200 404 404 404 404 404 404 404",
    "exams/receipts/<uuid:receipt_id>/receipt.json": "in 200 404 404 404 404 404 404 404",
    "exams/attempts/<uuid:attempt_id>/": "in 200 404 404 404 404 404 404 404",
    "exams/<uuid:exam_id>/": "in 200 200 404 404 404 404 404 404",
    "exams/<uuid:exam_id>/attempts/": "405 405 405 405 405 405 405 405 405",
    "notifications/": "in 200 200 200 200 200 200 200 200",
    "notifications/read/": "405 405 405 405 405 405 405 405 405",
    "notifications/<uuid:notification_id>/": "in 302 404 404 404 404 404 404 404",
    "marksheets/": "in 403 403 200 200 200 200 200 200",
    "marksheets/<uuid:sheet_id>/": "in 404 404 200 404 404 200 404 200",
    "marksheets/<uuid:sheet_id>/marks": "403 404 404 400 404 404 400 404 400",
    "marksheets/<uuid:sheet_id>/columns/new/": "in 404 404 200 404 404 403 404 403",
    "marksheets/<uuid:sheet_id>/columns/<uuid:column_id>/": "in 404 404 200 404 404 403 404 403",
    "marksheets/<uuid:sheet_id>/marks.csv": "in 404 404 200 404 404 200 404 200",
    "marksheets/<uuid:sheet_id>/marks.xlsx": "in 404 404 200 404 404 200 404 200",
    "marksheets/<uuid:sheet_id>/import/": "in 404 404 200 404 404 403 404 403",
    "marksheets/<uuid:sheet_id>/amendments/": "in 404 404 200 404 404 200 404 200",
    "marksheets/<uuid:sheet_id>/totals/": "in 404 404 200 404 404 200 404 200",
    "marksheets/<uuid:sheet_id>/totals/rules/": "in 404 404 200 404 404 200 404 200",
    "amendments/<uuid:amendment_id>/": "in 404 404 200 404 404 200 404 200",
    "terms/<uuid:period_id>/cards/": "in 404 404 404 404 404 200 404 200",
    "terms/<uuid:period_id>/cards/<uuid:class_id>/": "in 404 404 404 404 404 200 404 200",
    "terms/<uuid:period_id>/cards/<uuid:class_id>/archive.zip": "in 404 404 404 404 404 200 404 200",
    "terms/<uuid:period_id>/cards/<uuid:class_id>/list/": "in 404 404 404 404 404 200 404 200",
    "terms/<uuid:period_id>/cards/<uuid:class_id>/list.pdf": "in 404 404 404 404 404 200 404 200",
    "cards/": "in 200 200 403 403 403 403 403 403",
    "cards/<uuid:card_id>/": "in 200 404 404 404 404 200 404 200",
    "cards/<uuid:card_id>/card.pdf": "in 200 404 404 404 404 200 404 200",
    "verify/": "200 200 200 200 200 200 200 200 200",
    "terms/": "in 403 403 403 403 403 200 200 200",
    "terms/<uuid:period_id>/": "in 404 404 404 404 404 200 404 200",
    "marksheets/<uuid:sheet_id>/history/": "in 404 404 200 404 404 200 404 200",
    "marksheets/<uuid:sheet_id>/history/cells/<uuid:column_id>/<uuid:student_id>/": "in 404 404 200 404 404 200 404 200",
    "marksheets/<uuid:sheet_id>/analytics/": "in 404 404 200 404 404 200 404 200",
    "exams/<uuid:exam_id>/analytics/": "in 404 404 200 404 404 200 404 200",
    "marksheets/<uuid:sheet_id>/as-of/": "in 404 404 200 404 404 200 404 200",
}
# What is only ever sent, never looked at.
SENT = {
    "accounts/logout/": "in in in in in in in in in",
    "exams/<uuid:exam_id>/attempts/": "in 302 302 404 404 404 404 404 404",
    "notifications/read/": "in 302 302 302 302 302 302 302 302",
}
UNSAFE = ("POST", "DELETE")

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def browsers(
    world: World,
    student: User,
    other_student: User,
    teacher: User,
    other_teacher: User,
    other_school_teacher: User,
    admin: User,
) -> dict[str, Client]:
    """A browser for each of `WHO`."""
    near, far = (
        factories.admin(username=f"office-{each.pk}", school=each)
        for each in (world.school, world.other_school)
    )
    people = (None, student, other_student, teacher, other_teacher, other_school_teacher, near, far, admin)
    return {name: _sign_in(person) for name, person in zip(WHO, people, strict=True)}


def _sign_in(person: User | None) -> Client:
    browser = Client()
    if person is not None:
        browser.force_login(person)
    return browser


@pytest.fixture
def ids(world: World, exam: Exam, attempt: Attempt, teacher: User) -> dict[str, object]:
    """What belongs to the student, the teacher and their school."""
    student = attempt.student
    receipt = hand_in(factories.attempt(factories.published_revision(), student))
    fill_every_table(world, student, teacher)
    now, office = database_now(), User.objects.get(username="hill_admin")
    release_cards(period=world.period, school_class=world.school_class, release_at=now, by=office)
    with transaction.atomic():
        notify(recipients=[student.pk], topic="exam", text="It is over.", address="/exams/", occurred_at=now)
    names = ("tenant_id", "group_id", "job_id", "subject_id")
    letter = DeadLetter.objects.create(
        kind="grade", cause="defect", tries=1, **{name: uuid4() for name in names}
    )
    effect = EffectReceipt.objects.create(
        event_id=uuid4(), effect="notify", pos=1, state="failed", ended_at=now
    )
    return {
        "sheet_id": world.sheet.pk,
        "column_id": Column.objects.get().pk,
        "student_id": student.pk,
        "amendment_id": Amendment.objects.get().pk,
        "period_id": world.period.pk,
        "class_id": world.school_class.pk,
        "card_id": ReportCard.objects.get(student=student).pk,
        "exam_id": exam.pk,
        "attempt_id": attempt.pk,
        "uuid:receipt_id": receipt.pk,
        "int:receipt_id": effect.pk,
        "notification_id": Notification.objects.get(recipient=student).pk,
        "letter_id": letter.pk,
        "name": "analytics",
    }


def list_routes(*, below: str = "") -> Iterator[str]:
    for route, _ in walk(get_resolver(), ""):
        if route.startswith(below) and (below or not re.match(r"\^?api/|admin/", route)):
            yield route


def fill(route: str, ids: Mapping[str, object]) -> str:
    return "/" + re.sub(r"<(\w+:(\w+))>", lambda part: str(ids.get(part[1]) or ids[part[2]]), route)


def name_answer(answer: HttpResponseBase) -> str:
    """The code, or that somebody is asked to sign in."""
    asks = answer.status_code == 302 and re.match(r"/(accounts|admin)/login/", answer.headers["Location"])
    return "in" if asks else str(answer.status_code)


def test_every_page_has_an_expectation() -> None:
    assert set(list_routes()) == set(EXPECTED)


def test_every_kind_of_person_gets_what_is_expected(
    ids: dict[str, object], browsers: dict[str, Client]
) -> None:
    seen = {
        route: " ".join(name_answer(browser.get(fill(route, ids))) for browser in browsers.values())
        for route in EXPECTED
    }
    assert seen == EXPECTED


def test_what_is_only_sent_is_taken_from_those_expected(
    ids: dict[str, object], browsers: dict[str, Client]
) -> None:
    seen = {
        route: " ".join(name_answer(browser.post(fill(route, ids))) for browser in browsers.values())
        for route in sorted(SENT, reverse=True)  # signing out last
    }
    assert seen == SENT


def test_who_may_not_see_a_page_changes_nothing_through_it(
    ids: dict[str, object], browsers: dict[str, Client]
) -> None:
    events = Event.objects.count()
    answers = {
        (route, who, method): name_answer(browsers[who].generic(method, fill(route, ids)))
        for route, codes in EXPECTED.items()
        for who, code in zip(WHO, codes.split(), strict=True)
        for method in UNSAFE
        if code in {"in", "403", "404"}
    }
    assert {
        asked: answer for asked, answer in answers.items() if answer not in {"in", "403", "404", "405"}
    } == {}
    assert Event.objects.count() == events


def test_administration_lets_in_nobody_but_staff(browsers: dict[str, Client]) -> None:
    routes = [
        each for each in list_routes(below="admin/") if not re.match(r"admin/(log|password_change/$)", each)
    ]
    assert len(routes) > 100
    paths = ["/" + re.sub(r"\(.*|<[^>]*>", "1", route) for route in routes]
    answers = {
        path: (name_answer(browsers["nobody"].get(path)), name_answer(browsers["teacher"].post(path)))
        for path in paths
    }
    assert {path: answer for path, answer in answers.items() if answer != ("in", "in")} == {}
