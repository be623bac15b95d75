"""Hostile bodies at the doors of the API that Django serves: the written rule (docs/answers.md), never a 500, never a row.

The gate's own door has its own test (test_hostile_submission.py); the bodies and the codes are the same.
"""

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from hypothesis import given
from hypothesis import strategies as st

from exams.limits.buckets import Buckets
from exams.models import Attempt, Draft, Exam
from exams.services import drafts, sign_in
from gradebook.models import User
from tests.examples import examples
from tests.exams.api.callers import Caller, give_csrf_cookie, read, refused, with_session, with_token
from tests.exams.media_types import JSON, NOT_JSON

pytestmark = pytest.mark.django_db

Send = Callable[..., HttpResponse]

NESTED = b"[" * 1000 + b"]" * 1000


@pytest.fixture
def save(attempt: Attempt, student: User, monkeypatch: pytest.MonkeyPatch) -> Send:
    """Send a body to the draft's door; saving is not limited here."""
    monkeypatch.setattr(drafts, "saves", Buckets(capacity=10_000, per_second=1))
    caller = with_token(student)
    return lambda body, **headers: caller.put(f"attempts/{attempt.pk}/draft", body, **headers)


@pytest.fixture
def sign_in_with(monkeypatch: pytest.MonkeyPatch) -> Send:
    """Send a body to the door where tokens are given out; guessing is not limited here."""
    monkeypatch.setattr(sign_in, "guesses", Buckets(capacity=10_000, per_second=1))
    caller = Caller()
    return lambda body, **headers: caller.post("tokens", body, **headers)


# value of an answer or a password, as raw JSON → where the fault is, below the member it is in
HOSTILE_VALUES = {
    "an escaped NUL": (rb'"a\u0000b"', ""),
    "a raw NUL": (b'"a\x00b"', None),
    "a lone high surrogate": (rb'"\ud83d"', ""),
    "a lone low surrogate": (rb'"\udf93x"', ""),
    "a surrogate as bytes": (b'"\xed\xa0\xbd"', None),
    "Latin-1": (b'"\xe4"', None),
    "a number beyond a double": (b"1e309", ""),
    "a number of 60 digits": (b"1" * 60, ""),
    "NaN": (b"NaN", ""),
    "Infinity": (b"-Infinity", ""),
    "depth 1,000": (NESTED, "deep"),
    "a name used twice": (b'{"a": "x", "a": "y"}', "/a"),
    "a half string": (b'"abc', None),
    "nothing": (b"", None),
    "a control character": (b'"a\nb"', None),
}
LONG_NAME = b'"' + b"x" * 300_000 + b'"'


@pytest.mark.parametrize("name", HOSTILE_VALUES)
def test_a_hostile_answer_is_refused_by_its_place_and_nothing_is_kept(save: Send, name: str) -> None:
    value, place = HOSTILE_VALUES[name]

    problem = refused(save(b'{"answers": {"q/1": ' + value + b'}, "token": null}'), 400)

    assert_place(problem, "/answers/q~11", place)
    assert not Draft.objects.exists()


@pytest.mark.parametrize(
    ("answers", "pointer"),
    [
        (b"{" + LONG_NAME + b': "a"}', "/answers"),
        (b'{"q": {' + LONG_NAME + b': "a"}}', "/answers/q"),
        (b"{" + LONG_NAME + b": 1, " + LONG_NAME + b": 2}", "/answers"),
        (b'{"' + b"x" * 201 + b'": "a"}', "/answers"),
    ],
    ids=["a question", "a prompt", "twice", "one character too many"],
)
def test_a_name_too_long_to_be_an_id_is_refused_and_not_repeated(
    save: Send, answers: bytes, pointer: str
) -> None:
    problem = refused(save(b'{"answers": ' + answers + b', "token": null}'), 400)

    assert (problem["code"], [error["pointer"] for error in problem["errors"]]) == ("malformed", [pointer])
    assert not Draft.objects.exists()


@pytest.mark.parametrize("name", HOSTILE_VALUES)
def test_a_hostile_password_is_refused_by_its_place(sign_in_with: Send, name: str) -> None:
    value, place = HOSTILE_VALUES[name]

    problem = refused(sign_in_with(b'{"username": "student", "password": ' + value + b"}"), 400)

    assert_place(problem, "/password", place)


def assert_place(problem: dict[str, Any], member: str, place: str | None) -> None:
    """Check where the fault was found: in the member, somewhere deep below it, or nowhere, where it is no JSON at all."""
    assert problem["code"] == "malformed"
    [pointer] = [error["pointer"] for error in problem["errors"]]
    if place == "deep":
        assert pointer.startswith(member + "/0/0/0")
    else:
        assert pointer == ("" if place is None else member + place)


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b"[]",
        b'"answers"',
        b"1",
        b"true",
        b"{",
        b"\xff\xfe{}",
        b"{}{}",
        b"\x00",
        NESTED,
        b'{"a": ' * 1000,
    ],
    ids=lambda body: repr(body[:12]),
)
def test_a_body_that_is_no_object_is_refused(save: Send, sign_in_with: Send, body: bytes) -> None:
    for send in (save, sign_in_with):
        assert refused(send(body), 400)["code"] == "malformed"
    assert not Draft.objects.exists()


@pytest.mark.parametrize("content_type", NOT_JSON)
def test_another_form_than_json_in_utf8_is_refused(save: Send, sign_in_with: Send, content_type: str) -> None:
    for send in (save, sign_in_with):
        response = send({"answers": {"q": "a"}, "token": None}, content_type=content_type)
        assert refused(response, 415)["code"] == "unsupported_media_type"
    assert not Draft.objects.exists()


@pytest.mark.parametrize("content_type", JSON)
def test_json_in_utf8_is_accepted_however_it_says_so(save: Send, content_type: str) -> None:
    read(save({"answers": {"q": "ä"}, "token": None}, content_type=content_type), 200)


def test_a_compressed_body_is_refused(save: Send) -> None:
    body = gzip.compress(json.dumps({"answers": {"q": "a"}, "token": None}).encode())
    assert refused(save(body, **{"content-encoding": "gzip"}), 415)["code"] == "unsupported_media_type"


# body → status and code at the doors a page of ours POSTs to with its session: CSRF must not read what it cannot judge
SESSION_BODIES = {
    "depth 100,000": (b"[" * 100_000 + b"]" * 100_000, (400, "malformed")),
    "larger than an exam": (b" " * (1024 * 1024 + 1), (413, "too_large")),
    "UTF-16": ("{}".encode("utf-16"), (400, "malformed")),
    "no multipart": (b"x", (400, "malformed")),
}


@pytest.mark.parametrize("name", SESSION_BODIES)
def test_a_hostile_body_with_a_session_is_judged_behind_the_csrf_check(name: str, student: User) -> None:
    body, expected = SESSION_BODIES[name]
    caller = with_session(student)
    csrf = give_csrf_cookie(caller.client)

    problem = refused(caller.post("tokens", body, **{"x-csrftoken": csrf}), expected[0])

    assert (problem["status"], problem["code"]) == expected


def test_a_start_with_a_session_reads_no_body(exam: Exam, student: User) -> None:
    caller = with_session(student)
    csrf = give_csrf_cookie(caller.client)
    read(caller.post(f"exams/{exam.pk}/attempts", NESTED * 100, **{"x-csrftoken": csrf}), 201)


@pytest.mark.parametrize("size", [1024 * 1024 + 1, 10 * 1024 * 1024])
def test_a_body_larger_than_an_exam_is_refused(save: Send, sign_in_with: Send, size: int) -> None:
    body = b'{"answers": {"q": "' + b"x" * size + b'"}, "token": null}'
    for send in (save, sign_in_with):
        assert refused(send(body), 413)["code"] == "too_large"
    assert not Draft.objects.exists()


def test_a_body_just_small_enough_is_judged_by_what_is_in_it(save: Send) -> None:
    answers = {f"q{number}": "x" * 100_000 for number in range(10)}
    read(save({"answers": answers, "token": None}), 200)


def test_what_is_only_unusual_is_kept_as_it_is(save: Send) -> None:
    """O06: the written rule stores every character but NUL and lone surrogates, in any amount up to 200,000 a text."""
    answers = {
        "emoji": "🎓👩‍👩‍👧‍👦",
        "byte order mark": "\ufeffx",
        "right to left": "\u202eevil",
        "long line": "y" * 200_000,
        "script": "<script>alert(1)</script>",
        "formula": "=cmd|' /C calc'!A0",
        "quotes": "\"'`; DROP TABLE exams_draft; --",
    }
    read(save("\ufeff".encode() + json.dumps({"answers": answers, "token": None}).encode()), 200)

    assert json.loads(Draft.objects.get().answers) == answers


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=15,
)
bodies = st.one_of(
    st.binary(max_size=200),
    json_values.map(lambda value: json.dumps(value).encode()),
    st.fixed_dictionaries({"answers": json_values, "token": st.none() | json_values}).map(
        lambda value: json.dumps(value).encode()
    ),
    st.fixed_dictionaries({"username": json_values, "password": json_values}).map(
        lambda value: json.dumps(value).encode()
    ),
)


@examples(60)
@given(body=bodies)
def test_no_body_breaks_the_drafts_door(save: Send, body: bytes) -> None:
    before = Draft.objects.count()
    response = save(body)
    assert response.status_code in {200, 400, 409}, response.content
    if response.status_code == 200:
        assert Draft.objects.count() == 1
    else:
        assert Draft.objects.count() == before


@examples(40)
@given(body=bodies)
def test_no_body_breaks_the_door_of_tokens(sign_in_with: Send, body: bytes) -> None:
    assert sign_in_with(body).status_code in {400, 401}
