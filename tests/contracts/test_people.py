"""S4, somebody else's key and none: every address of the API, asked by every kind of person. An address without an expectation here fails, so none is forgotten.

Who may not is told the same as about something that does not exist: the two answers are compared word for word.
"""

import dataclasses
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from uuid_utils.compat import uuid7

from exams.api.attachments import CHUNK_TYPE
from exams.models import Attempt, Exam
from gradebook.models import User
from tests import factories
from tests.attachments import pictures
from tests.attachments.senders import keep_photo
from tests.contracts.endpoints import list_endpoints
from tests.exams.api.callers import Caller, call_gate, refused, with_session, with_token
from tests.people import World
from tests.sitting import hand_in

WHO = (
    "student",
    "other_student",
    "other_school_student",
    "teacher",
    "other_teacher",
    "other_school_teacher",
    "admin",
    "nobody",
)

ONLY_MINE = (200, 404, 404, 404, 404, 404, 404, 401)
EVERYBODY = (200, 200, 200, 200, 200, 200, 200, 200)
SIGNED_IN = (200, 200, 200, 200, 200, 200, 200, 401)

# Codes in the order of WHO. The student has an open attempt, and a receipt from an earlier one; the classmate may start too.
EXPECTED: dict[tuple[str, str], tuple[int, ...]] = {
    ("POST", "tokens"): (
        201,
        201,
        201,
        201,
        201,
        201,
        201,
        201,
    ),  # with the person's own password; nobody uses the student's
    ("GET", "exams"): SIGNED_IN,
    ("POST", "exams/<uuid:exam_id>/attempts"): (200, 201, 404, 404, 404, 404, 404, 401),
    ("GET", "attempts/<uuid:attempt_id>"): ONLY_MINE,
    ("GET", "attempts/<uuid:attempt_id>/standing"): ONLY_MINE,
    ("PUT", "attempts/<uuid:attempt_id>/draft"): ONLY_MINE,
    ("POST", "attempts/<uuid:attempt_id>/submission"): (202, 404, 404, 404, 404, 404, 404, 401),
    ("GET", "attempts/<uuid:attempt_id>/attachments"): ONLY_MINE,
    ("POST", "attempts/<uuid:attempt_id>/attachments"): (
        400,  # its paper asks for no file
        404,
        404,
        404,
        404,
        404,
        404,
        401,
    ),
    ("GET", "attempts/<uuid:attempt_id>/attachments/<uuid:version_id>"): ONLY_MINE,
    ("PATCH", "attempts/<uuid:attempt_id>/attachments/<uuid:version_id>"): (
        409,  # it has arrived
        404,
        404,
        404,
        404,
        404,
        404,
        401,
    ),
    ("GET", "attachments/<uuid:version_id>/<str:rendition>"): (200, 404, 404, 404, 404, 404, 200, 401),
    ("GET", "receipts"): SIGNED_IN,
    ("GET", "receipts/<uuid:receipt_id>"): ONLY_MINE,
    ("GET", "notifications"): SIGNED_IN,
    ("GET", "notifications/unread"): SIGNED_IN,
    ("POST", "notifications/read"): SIGNED_IN,
    ("GET", "receipt-keys"): EVERYBODY,
    ("GET", "schema"): EVERYBODY,
    ("GET", "docs"): EVERYBODY,
}
BODIES: dict[tuple[str, str], Any] = {
    ("PUT", "attempts/<uuid:attempt_id>/draft"): {"answers": {"q1": "b"}, "token": None},
    ("POST", "attempts/<uuid:attempt_id>/submission"): {"answers": {"q1": "b"}},
    ("POST", "attempts/<uuid:attempt_id>/attachments"): {
        "question_id": "0193c5a4-0000-7000-8000-000000000000",
        "file_name": "photo.jpg",
        "size": 100_000,
        "sha256": "0" * 64,
    },
    ("PATCH", "attempts/<uuid:attempt_id>/attachments/<uuid:version_id>"): pictures.jpeg(),
}
HEADERS = {
    ("PATCH", "attempts/<uuid:attempt_id>/attachments/<uuid:version_id>"): {
        "content_type": CHUNK_TYPE,
        "Upload-Offset": "0",
    }
}
SUBMISSION = ("POST", "attempts/<uuid:attempt_id>/submission")

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def other_school_student(world: World) -> User:
    person = factories.student(world.other_school, username="other_school_student")
    factories.enrolment(person, factories.school_class(world.other_school))
    return person


@pytest.fixture
def people(request: pytest.FixtureRequest) -> dict[str, User | None]:
    return {name: request.getfixturevalue(name) for name in WHO}


@pytest.fixture
def ids(exam: Exam, attempt: Attempt) -> dict[str, UUID]:
    """What belongs to the student."""
    earlier = factories.attempt(factories.published_revision(), attempt.student)
    photo = keep_photo(attempt, pictures.jpeg())
    return {
        "exam_id": exam.pk,
        "attempt_id": attempt.pk,
        "receipt_id": hand_in(earlier).pk,
        "version_id": photo.pk,
    }


def fill(route: str, ids: dict[str, UUID]) -> str:
    for name, value in ids.items():
        route = route.replace(f"<uuid:{name}>", str(value))
    route = route.replace("<str:rendition>", "original")
    assert "<" not in route
    return route


def ask(
    endpoint: tuple[str, str], ids: dict[str, UUID], person: User | None, caller: Caller
) -> tuple[int, bytes]:
    method, route = endpoint
    body = BODIES.get(endpoint)
    if endpoint == ("POST", "tokens"):
        body = {"username": person.username if person else "student", "password": factories.PASSWORD}
        caller = Caller()
    if endpoint == SUBMISSION:
        return call_gate(method, f"/api/v1/{fill(route, ids)}", body, caller.token)
    response = caller.call(method, fill(route, ids), body, **HEADERS.get(endpoint, {}))
    return response.status_code, response.content


def caller_for(person: User | None) -> Caller:
    return with_token(person) if person else Caller()


def test_every_address_has_an_expectation() -> None:
    assert set(list_endpoints()) == set(EXPECTED)


@pytest.mark.parametrize("endpoint", EXPECTED, ids=" ".join)
def test_every_kind_of_person_gets_the_expected_code(
    endpoint: tuple[str, str], ids: dict[str, UUID], people: dict[str, User | None]
) -> None:
    codes = {name: ask(endpoint, ids, person, caller_for(person))[0] for name, person in people.items()}
    assert codes == dict(zip(WHO, EXPECTED[endpoint], strict=True))


@pytest.mark.parametrize(
    "endpoint", [endpoint for endpoint, codes in EXPECTED.items() if 404 in codes], ids=" ".join
)
def test_what_is_not_yours_is_told_apart_from_nothing_by_nobody(
    endpoint: tuple[str, str], ids: dict[str, UUID], people: dict[str, User | None]
) -> None:
    nothing: dict[str, UUID] = dict.fromkeys(ids, uuid7())
    for name, code in zip(WHO, EXPECTED[endpoint], strict=True):
        if code == 404:
            caller = caller_for(people[name])
            assert ask(endpoint, ids, None, caller) == ask(endpoint, nothing, None, caller), name


@pytest.mark.parametrize("route", ["exams", "receipts"])
def test_a_list_shows_nobody_what_is_not_theirs(
    route: str, ids: dict[str, UUID], people: dict[str, User | None]
) -> None:
    theirs = {"exams": {"student", "other_student"}, "receipts": {"student"}}[route]
    for name, person in people.items():
        if person is not None:
            listed = caller_for(person).get(route).content.decode()
            assert (listed != "[]") == (name in theirs), name
            assert (str(ids["attempt_id"]) in listed) == (name == "student" and route == "exams"), name


@pytest.mark.parametrize(
    "endpoint",
    [each for each in EXPECTED if each[0] == "GET" and each[1] not in {"schema", "docs"}],
    ids=" ".join,
)
def test_a_session_reads_what_the_persons_token_reads(
    endpoint: tuple[str, str], ids: dict[str, UUID], people: dict[str, User | None]
) -> None:
    for name, person in people.items():
        if person is not None:
            by_session = ask(endpoint, ids, person, with_session(person))[0]
            assert by_session == ask(endpoint, ids, person, with_token(person))[0], name


@pytest.mark.parametrize("path", ["", "nothing", "attempts", "attempts/1", "exams/x/attempts", "../admin"])
def test_an_address_that_does_not_exist_is_a_problem_for_everybody(
    path: str, people: dict[str, User | None]
) -> None:
    for person in people.values():
        response = caller_for(person).get(path)
        assert (response.status_code, response["Content-Type"]) == (404, "application/problem+json")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_mistyped_address_is_said_not_to_exist_whatever_was_sent_to_it(method: str, student: User) -> None:
    caller = dataclasses.replace(with_token(student), client=Client(enforce_csrf_checks=True))
    assert refused(caller.call(method, "attempts/1/submission/", {"answers": {}}), 404)["code"] == "not_found"


@pytest.mark.parametrize("endpoint", sorted({route for _, route in EXPECTED} - {"docs"}))
def test_a_method_an_address_does_not_take_is_refused(
    endpoint: str, ids: dict[str, UUID], student: User
) -> None:
    known = {method for method, route in EXPECTED if route == endpoint} | {"HEAD", "OPTIONS"}
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - known:
        response = with_token(student).call(method, fill(endpoint, ids))
        assert (response.status_code, response["Content-Type"]) == (405, "application/problem+json"), method
        assert known >= set(response["Allow"].split(", "))
