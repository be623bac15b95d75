"""Hostile bodies at the gate, over HTTP: the written rule, never a 500, never an acknowledgement without a row."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exams.canonical import digest
from exams.models import Attempt, ExamRevision, Submission
from tests import factories
from tests.examples import examples
from tests.posting import Poster, Sitting, sitting_of
from tests.serving import WebServer

LONG = "x" * 200_000
DEEP = "[" * 1_000 + "]" * 1_000


@pytest.fixture
def poster(transactional_db: None, standing_gate: WebServer) -> Iterator[Poster]:
    """A client of the product's own web server."""
    with Poster(standing_gate.port) as poster:
        yield poster


def in_answers(value: str) -> bytes:
    """Return a body whose one answer is this piece of JSON."""
    return b'{"answers":{"q":' + value.encode("utf-8", "surrogatepass") + b"}}"


MALFORMED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", ""),
    "half": (b'{"answers":{"q":"a"', ""),
    "no JSON": (b"answers=a", ""),
    "a list": (b"[]", ""),
    "null": (b"null", ""),
    "two values": (b'{"answers":{}} {}', ""),
    "no answers": (b'{"answer":{}}', "/answers"),
    "answers null": (b'{"answers":null}', "/answers"),
    "answers a list": (b'{"answers":[]}', "/answers"),
    "answers a text": (b'{"answers":"q"}', "/answers"),
    "answers a number": (b'{"answers":1}', "/answers"),
    "name twice": (b'{"answers":{"q":"a","q":"b"}}', "/answers/q"),
    "NUL": (in_answers(r'"a\u0000b"'), "/answers/q"),
    "NUL in a name": (b'{"answers":{"a\\u0000":"b"}}', "/answers"),
    "raw NUL": (in_answers('"a\x00b"'), ""),
    "lone surrogate": (in_answers(r'"\ud83d"'), "/answers/q"),
    "lone surrogate in UTF-8": (in_answers('"\ud83d"'), ""),
    "latin-1": ('{"answers":{"q":"é"}}'.encode("latin-1"), ""),
    "UTF-16": ('{"answers":{"q":"a"}}'.encode("utf-16"), ""),
    "1e309": (in_answers("1e309"), "/answers/q"),
    "-1e309": (in_answers("-1e309"), "/answers/q"),
    "51 digits": (in_answers("1" * 51), "/answers/q"),
    "a million digits": (in_answers("1" * 1_000_000), "/answers/q"),
    "NaN": (in_answers("NaN"), "/answers/q"),
    "Infinity": (in_answers("Infinity"), "/answers/q"),
    "depth 1,000": (in_answers(DEEP), "/answers/q" + "/0" * 30),
    "depth 3": (in_answers('[["a"]]'), "/answers/q/0"),
    "list of numbers": (in_answers("[1]"), "/answers/q/0"),
    "map of lists": (in_answers('{"p":["c"]}'), "/answers/q/p"),
    "one character too many": (in_answers(f'"{LONG}x"'), "/answers/q"),
    "1,001 answers": (
        json.dumps({"answers": {str(number): "a" for number in range(1_001)}}).encode(),
        "/answers",
    ),
    "1,001 choices": (in_answers(json.dumps([str(number) for number in range(1_001)])), "/answers/q"),
}
LOSSLESS: dict[str, tuple[bytes, dict[str, Any]]] = {
    "no answers at all": (b'{"answers":{}}', {}),
    "four-byte emoji": (in_answers('"😀"'), {"q": "😀"}),
    "escaped emoji": (in_answers(r'"\ud83d\ude00"'), {"q": "😀"}),
    "byte order mark in front": (b"\xef\xbb\xbf" + in_answers('"a"'), {"q": "a"}),
    "byte order mark in a text": (in_answers('"\ufeffa"'), {"q": "\ufeffa"}),
    "every odd space": (in_answers('"\u2028\u2029\u200f\x7f"'), {"q": "\u2028\u2029\u200f\x7f"}),
    "a line of 200,000 characters": (in_answers(f'"{LONG}"'), {"q": LONG}),
    "50 digits": (in_answers("1" * 50), {"q": int("1" * 50)}),
    "wrong type for any question": (in_answers("true"), {"q": True}),
    "script and formula": (in_answers('"<script>=1+1"'), {"q": "<script>=1+1"}),
    "members we do not know": (b'{"answers":{"q":"a"},"score":100,"state":"graded"}', {"q": "a"}),
}


def test_malformed_bodies_are_400_with_a_pointer_and_leave_nothing_behind(poster: Poster) -> None:
    """O06, refused half."""
    revision = factories.published_revision()
    for name, (body, pointer) in MALFORMED.items():
        answer = poster.post(sitting_of(factories.attempt(revision)), body)

        assert (name, answer.status, answer.code) == (name, 400, "malformed")
        assert (name, [error["pointer"] for error in answer.body["errors"]]) == (name, [pointer])
    assert Submission.objects.count() == 0
    assert set(Attempt.objects.values_list("state", "version")) == {("open", 1)}


def test_odd_but_lawful_bodies_are_stored_without_loss(poster: Poster) -> None:
    """O06, stored half: what was acknowledged is what is there."""
    revision = factories.published_revision()
    for name, (body, answers) in LOSSLESS.items():
        sitting = sitting_of(factories.attempt(revision))

        answer = poster.post(sitting, body)

        assert (name, answer.status) == (name, 202)
        stored = Submission.objects.get(pk=answer.body["id"])
        assert json.loads(stored.answers) == answers
        assert digest(stored.answers) == stored.payload_sha256 == answer.body["payload_sha256"]
        assert stored.attempt_id == sitting.attempt_id


def test_larger_than_a_mebibyte_is_413_however_it_is_sent(poster: Poster) -> None:
    sitting = sitting_of(factories.attempt())
    ten_mebibytes = b'{"answers":{"q":"' + b"x" * (10 * 1024 * 1024) + b'"}}'

    declared = poster.post(sitting, ten_mebibytes)
    chunked = _send_raw(poster, _head(sitting, "Transfer-Encoding: chunked"), _chunks(ten_mebibytes))

    assert (declared.status, declared.code) == (413, "too_large")
    assert chunked.startswith(b"HTTP/1.1 413 ")
    assert Submission.objects.count() == 0
    assert poster.hand_in(sitting, {}).status == 202


@pytest.mark.parametrize(
    ("fields", "body", "status"),
    [
        (
            "Content-Length: 9",
            b'{"answers":{"q":"a"}}',
            b"400",
        ),  # shorter than the body: what follows is no request
        ("Content-Length: -1", b"{}", b"400"),
        ("Content-Length: 1e3", b"{}", b"400"),
        ("Content-Length: 99999999999999999999999999", b"{}", b"4"),
        ("Transfer-Encoding: chunked", b"zz\r\n{}\r\n", b"400"),
    ],
)
def test_lies_about_the_length_are_refused(poster: Poster, fields: str, body: bytes, status: bytes) -> None:
    sitting = sitting_of(factories.attempt())

    answer = _send_raw(poster, _head(sitting, fields), [body])

    assert answer.startswith(b"HTTP/1.1 " + status)
    assert Submission.objects.count() == 0
    assert poster.hand_in(sitting, {}).status == 202


def test_other_media_types_and_charsets_are_415(poster: Poster) -> None:
    sitting = sitting_of(factories.attempt())
    for content_type in (
        "text/plain",
        "application/json; charset=latin-1",
        "multipart/form-data; boundary=x",
        "",
    ):
        answer = poster.post(sitting, b'{"answers":{}}', **{"Content-Type": content_type})

        assert (content_type, answer.status, answer.code) == (content_type, 415, "unsupported_media_type")
    assert Submission.objects.count() == 0


def test_client_that_hangs_up_in_the_middle_leaves_nothing_behind(poster: Poster) -> None:
    sitting = sitting_of(factories.attempt())
    with socket.create_connection(("127.0.0.1", poster.port)) as client:
        client.sendall(_head(sitting, "Content-Length: 500") + b'{"answers":')

    assert poster.hand_in(sitting, {"q": "a"}).status == 202
    assert Submission.objects.get().answers == '{"q":"a"}'


def _head(sitting: Sitting, fields: str) -> bytes:
    lines = [
        f"POST {sitting.path} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {sitting.token}",
        "Content-Type: application/json",
        fields,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def _chunks(body: bytes, size: int = 65_536) -> Iterator[bytes]:
    for begin in range(0, len(body), size):
        chunk = body[begin : begin + size]
        yield b"%x\r\n%s\r\n" % (len(chunk), chunk)
    yield b"0\r\n\r\n"


def _send_raw(poster: Poster, head: bytes, pieces: Any) -> bytes:
    """Send bytes as they are; return the beginning of the first answer. The server may hang up while we still talk."""
    with socket.create_connection(("127.0.0.1", poster.port), timeout=30) as client:
        client.sendall(head)
        try:
            for piece in pieces:
                client.sendall(piece)
        except ConnectionError:
            pass
        return client.recv(4096)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
BODIES = st.one_of(
    st.binary(max_size=300),
    JSON.map(lambda value: json.dumps(value).encode()),
    st.dictionaries(st.text(), JSON, max_size=5).map(
        lambda answers: json.dumps({"answers": answers}).encode()
    ),
    st.text().map(lambda text: b'{"answers":{"q":"' + text.encode("utf-8", "surrogatepass") + b'"}}'),
)


@examples(60)
@given(body=BODIES)
def test_no_body_breaks_the_gate_and_none_is_acknowledged_without_its_row(
    poster: Poster, body: bytes
) -> None:
    attempt = factories.attempt(ExamRevision.objects.first())

    answer = poster.post(sitting_of(attempt), body)

    stored = Submission.objects.filter(attempt=attempt).first()
    if answer.status == 202:
        assert stored is not None
        assert answer.body["id"] == str(stored.pk)
        assert answer.body["payload_sha256"] == digest(stored.answers)
    else:
        assert (answer.status, answer.code, stored) == (400, "malformed", None)
