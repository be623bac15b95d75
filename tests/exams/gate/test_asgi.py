"""What the gate answers over ASGI: every code of the contract, in the words and shape of the rest of the API."""

import asyncio
import dataclasses
import datetime as dt
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from exams import tokens
from exams.canonical import canonical_answers, digest
from exams.gate.admission import Limits
from exams.gate.asgi import Gate
from exams.gate.durability import LocalDurability
from exams.gate.responses import Response
from exams.limits.buckets import Buckets
from exams.media_type import LARGEST_BODY
from exams.models import Attempt, Submission
from exams.receipt_keys import get_key_ring
from exams.receipts import Receipt, sign_receipt, verify_receipt
from gradebook.models import User
from outbox.db import database_now
from outbox.models import Event
from tests import factories
from tests.exams.api.callers import refused, with_token
from tests.exams.media_types import JSON, NOT_JSON

Message = dict[str, Any]
Sender = Callable[..., "Answer"]
REQUEST_ID = UUID("0199a1b2-c3d4-7e5f-8a6b-0123456789ab")
JSON_HEAD = (b"content-type", b"application/json")


@dataclasses.dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: Any

    @property
    def problem(self) -> tuple[int, str]:
        """Status and code, after checking that the refusal has the shape of all refusals."""
        assert self.headers["content-type"] == "application/problem+json"
        assert self.body["status"] == self.status
        assert self.body["type"] == f"urn:handover:problem:{self.body['code']}"
        return self.status, self.body["code"]


@dataclasses.dataclass(frozen=True)
class Request:
    """One request; `chunks` are the body. None among them: the client hangs up. `is_endless`: more was announced than comes."""

    path: str
    token: str
    chunks: Sequence[bytes | None]
    method: str = "POST"
    headers: Sequence[tuple[bytes, bytes]] = ((b"content-type", b"application/json"),)
    is_endless: bool = False

    async def send_to(self, gate: Gate) -> Answer | None:
        scope = {"type": "http", "method": self.method, "path": self.path, "headers": self._head()}
        sent: list[Message] = []
        incoming = self._receive()

        async def send(message: Any) -> None:
            sent.append(message)

        await gate(scope, lambda: anext(incoming), send)
        if not sent:
            return None
        start, end = sent
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        assert int(headers["content-length"]) == len(end["body"])
        return Answer(start["status"], headers, json.loads(end["body"]))

    def _head(self) -> list[tuple[bytes, bytes]]:
        bearer = [(b"authorization", f"Bearer {self.token}".encode())] if self.token else []
        return [*self.headers, *bearer]

    async def _receive(self) -> AsyncIterator[Message]:
        for number, chunk in enumerate(self.chunks, 1):
            if chunk is None:
                yield {"type": "http.disconnect"}
            else:
                yield {
                    "type": "http.request",
                    "body": chunk,
                    "more_body": self.is_endless or number < len(self.chunks),
                }
        await asyncio.Event().wait()  # nothing more comes


def path_of(attempt_id: UUID | str) -> str:
    return f"/api/v1/attempts/{attempt_id}/submission"


def token_of(person: User) -> str:
    return tokens.issue(person, now=database_now()).access


def request_of(attempt: Attempt, body: Any = None, **fields: Any) -> Request:
    """A request of the attempt's own student; `body` JSON or bytes."""
    chunk = (
        body
        if isinstance(body, bytes)
        else json.dumps({"answers": {"q": "a"}} if body is None else body).encode()
    )
    defaults = {"path": path_of(attempt.pk), "token": token_of(attempt.student), "chunks": [chunk]}
    return Request(**defaults | fields)


def serve(*requests: Request, **limits: Any) -> list[Any]:
    """Send the requests to a gate of their own, at once; return what each was answered."""

    async def run() -> list[Any]:
        gate = Gate(durability=LocalDurability(), limits=Limits(**limits))
        try:
            return list(await asyncio.gather(*(request.send_to(gate) for request in requests)))
        finally:
            await gate.close()

    return async_to_sync(run)()


def ask(request: Request, **limits: Any) -> Answer:
    [answer] = serve(request, **limits)
    assert isinstance(answer, Answer)
    return answer


@pytest.fixture
def attempt(transactional_db: None) -> Attempt:
    """An open attempt."""
    return factories.attempt()


def test_first_acceptance_is_202_with_the_signed_receipt(attempt: Attempt) -> None:
    answer = ask(request_of(attempt, {"answers": {"q": "a"}, "unknown": "ignored"}))

    submission = Submission.objects.get()
    assert (answer.status, answer.body) == (202, sign_receipt(Receipt.of(submission), get_key_ring()))
    assert answer.headers.items() >= {
        ("content-type", "application/json"),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
    }
    assert "idempotent-replayed" not in answer.headers
    assert answer.body["payload_sha256"] == digest(canonical_answers({"q": "a"}))
    verify_receipt(answer.body, get_key_ring().public_keys())


def test_equal_answers_are_200_with_the_same_receipt_and_the_header(attempt: Attempt) -> None:
    first = ask(request_of(attempt, b'{"answers": {"q": "a", "r": 2.0, "s": null}}'))

    again = ask(request_of(attempt, b'{"answers": {"r": 2, "q": "a"}}'))

    assert (again.status, again.body, again.headers["idempotent-replayed"]) == (200, first.body, "true")


def test_other_answers_are_409_with_both_digests_and_the_stored_receipt(attempt: Attempt) -> None:
    first = ask(request_of(attempt))

    other = ask(request_of(attempt, {"answers": {"q": "b"}}))

    assert other.problem == (409, "different_answers")
    assert other.body["stored_sha256"] == first.body["payload_sha256"]
    assert other.body["sent_sha256"] == digest(canonical_answers({"q": "b"}))
    assert other.body["receipt"] == first.body


def test_attempt_that_is_over_is_409_with_the_time_and_the_rule(attempt: Attempt) -> None:
    past = dt.datetime(2026, 11, 1, 12, 0, tzinfo=dt.UTC)
    Attempt.objects.update(closes_at=past, grace_until=past, accepts_until=past, deadline_rule="exam close")

    answer = ask(request_of(attempt))

    assert answer.problem == (409, "attempt_closed")
    assert (answer.body["closed_at"], answer.body["rule"]) == (
        "2026-11-01T12:00:00.000000+00:00",
        "exam close",
    )
    assert "receipt" not in answer.body
    assert Submission.objects.count() == 0


def test_strangers_and_unknown_attempts_get_the_same_404(attempt: Attempt) -> None:
    stranger = token_of(factories.student())

    answers = serve(
        request_of(attempt, token=stranger),
        request_of(attempt, token=stranger, path=path_of(uuid4())),
        request_of(attempt, path=path_of("no-uuid")),
    )

    assert [answer.problem for answer in answers] == [(404, "not_found")] * 3
    assert answers[0].body == answers[1].body == answers[2].body


@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        (b"", "not_authenticated"),
        (b"Basic YTpi", "not_authenticated"),
        (b"Bearer", "invalid_token"),
        (b"Bearer \xff\xfe", "invalid_token"),
        (b"Bearer a.b.c", "invalid_token"),
    ],
)
def test_nobody_is_401_and_told_how_to_sign_in(attempt: Attempt, authorization: bytes, code: str) -> None:
    headers = [(b"content-type", b"application/json")] + [(b"authorization", authorization)] * bool(
        authorization
    )

    answer = ask(request_of(attempt, token="", headers=headers))

    assert answer.problem == (401, code)
    assert answer.headers["www-authenticate"] == "Bearer"


def test_gate_refuses_in_the_very_words_of_the_rest_of_the_api(attempt: Attempt) -> None:
    """The same faults at a door that Django opens: the same members, all but the free words of `detail`."""
    token = token_of(attempt.student)
    draft = f"/api/v1/attempts/{attempt.pk}/draft"

    def at_django(body: bytes, content_type: str, token: str) -> Any:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return Client().generic("PUT", draft, body, content_type, headers=headers).json()

    plain = [(b"content-type", b"text/plain")]
    pairs = [
        (ask(request_of(attempt, token="")), at_django(b"{}", "application/json", "")),
        (ask(request_of(attempt, token="x")), at_django(b"{}", "application/json", "x")),
        (ask(request_of(attempt, b"{")), at_django(b"{", "application/json", token)),
        (
            ask(request_of(attempt, b'{"answers": {"q": NaN}}')),
            at_django(b'{"answers": {"q": NaN}}', "application/json", token),
        ),
    ]

    for ours, djangos in pairs:
        assert ours.body | {"detail": ""} == djangos | {"detail": ""}
    unsupported = ask(request_of(attempt, headers=plain)).body, at_django(b"{}", "text/plain", token)
    assert {(one["status"], one["code"], one["title"]) for one in unsupported} == {
        (415, "unsupported_media_type", "Send JSON, as application/json in UTF-8.")
    }


@pytest.mark.parametrize(
    "headers",
    [
        [],
        *([(b"content-type", content_type.encode())] for content_type in NOT_JSON),
        [(b"content-type", b"application/json"), (b"content-encoding", b"gzip")],
    ],
)
def test_other_media_types_are_415(attempt: Attempt, headers: list[tuple[bytes, bytes]]) -> None:
    assert ask(request_of(attempt, headers=headers)).problem == (415, "unsupported_media_type")


@pytest.mark.parametrize("content_type", JSON)
def test_json_in_utf8_is_taken_however_it_is_written(attempt: Attempt, content_type: str) -> None:
    assert ask(request_of(attempt, headers=[(b"content-type", content_type.encode())])).status == 202


def test_id_in_upper_case_is_nobodys_address_as_it_is_for_django(attempt: Attempt) -> None:
    shouted = str(attempt.pk).upper()

    assert ask(request_of(attempt, path=path_of(shouted))).problem == (404, "not_found")
    assert refused(with_token(attempt.student).get(f"attempts/{shouted}"), 404)["code"] == "not_found"


def test_other_methods_are_405(attempt: Attempt) -> None:
    answer = ask(request_of(attempt, method="PUT"))

    assert (answer.problem, answer.headers["allow"]) == ((405, "method_not_allowed"), "POST")


@pytest.mark.parametrize(
    ("headers", "chunks"),
    [
        ([(b"content-length", b"%d" % (LARGEST_BODY + 1))], [None]),  # refused before anything is read
        ([(b"content-length", b"10")], [b" " * 600_000] * 2),  # lies
        ([], [b" " * 65_536] * 17),  # says nothing
    ],
)
def test_more_than_a_mebibyte_is_413(
    attempt: Attempt, headers: list[tuple[bytes, bytes]], chunks: list[bytes]
) -> None:
    json_type = (b"content-type", b"application/json")

    answer = ask(request_of(attempt, headers=[json_type, *headers], chunks=chunks))

    assert answer.problem == (413, "too_large")


def test_body_of_exactly_a_mebibyte_is_read(attempt: Attempt) -> None:
    body = b'{"answers": {"q": "a"}}'

    answer = ask(request_of(attempt, body + b" " * (LARGEST_BODY - len(body))))

    assert answer.status == 202


def test_slow_body_is_408(attempt: Attempt) -> None:
    answer = ask(request_of(attempt, chunks=[b'{"answers"'], is_endless=True), body_seconds=0.05)

    assert answer.problem == (408, "too_slow")


def test_client_that_hangs_up_leaves_nothing_behind(attempt: Attempt) -> None:
    assert serve(request_of(attempt, chunks=[b'{"answers"', None])) == [None]
    assert Submission.objects.count() == 0


def test_too_many_requests_of_one_person_are_429(attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exams.gate.asgi.per_person", Buckets(capacity=2, per_second=0.01))
    other = factories.attempt()

    answers = [ask(request_of(attempt)) for _ in range(3)]

    assert [answer.status for answer in answers] == [202, 200, 429]
    assert answers[2].problem == (429, "rate_limited")
    assert 90 <= int(answers[2].headers["retry-after"]) <= 100
    assert ask(request_of(other)).status == 202


def test_full_line_sheds_with_a_wait_and_before_the_database_is_asked(
    attempt: Attempt, database_url: str
) -> None:
    others = [factories.attempt(attempt.revision) for _ in range(3)]

    answers = serve(request_of(attempt), *map(request_of, others), waiting=1)

    assert sorted(answer.status for answer in answers) == [202, 503, 503, 503]
    shed = [answer for answer in answers if answer.status == 503]
    assert {answer.problem for answer in shed} == {(503, "overloaded")}
    assert all(1 <= int(answer.headers["retry-after"]) <= 5 for answer in shed)
    assert Submission.objects.count() == 1


def test_bodies_held_in_memory_are_bounded_and_given_back(attempt: Attempt) -> None:
    other = factories.attempt(attempt.revision)
    size = len(json.dumps({"answers": {"q": "a"}}))

    answers = serve(request_of(attempt), request_of(other), held_bytes=size)
    retry = serve(request_of(other), request_of(other), held_bytes=2 * size)

    assert sorted(answer.status for answer in answers) == [202, 503]
    assert sorted(answer.status for answer in retry) in ([200, 200], [200, 202])


def test_outcome_is_unknown_when_the_committer_is_stuck(attempt: Attempt, database_url: str) -> None:
    """The answer does not wait for ever; the hand-in goes on, and the retry gets its receipt."""
    request = request_of(attempt)

    async def run(other: psycopg.Connection) -> Answer | None:
        gate = Gate(durability=LocalDurability(), limits=Limits(verdict_seconds=0.1))
        answer = await request.send_to(gate)
        await asyncio.to_thread(other.rollback)
        await gate.close()
        return answer

    with psycopg.connect(database_url) as other:
        other.execute("LOCK TABLE exams_submission IN SHARE MODE")
        answer = async_to_sync(run)(other)

    assert answer is not None
    assert answer.problem == (503, "outcome_unknown")
    assert 1 <= int(answer.headers["retry-after"]) <= 5
    assert ask(request).status == 200


async def take_whole(path: str, head: dict[bytes, bytes], body: bytes) -> Response:
    """Hand a request over in one piece, to a gate of its own."""
    gate = Gate(durability=LocalDurability())
    answer: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
    try:
        gate.take_whole(path, head, body, answer.set_result)
        return await answer
    finally:
        await gate.close()


def is_joined_to(correlation_id: UUID) -> bool:
    """Say whether the one submission's event is joined to this id."""
    return [correlation_id] == list(
        Event.objects.filter(kind="SubmissionAccepted").values_list("correlation_id", flat=True)
    )


@pytest.mark.parametrize("spelling", [str(REQUEST_ID), REQUEST_ID.hex, str(REQUEST_ID).upper()])
def test_id_a_request_brings_comes_back_and_joins_the_event_to_it(attempt: Attempt, spelling: str) -> None:
    head = [JSON_HEAD, (b"x-request-id", spelling.encode())]

    answer = ask(request_of(attempt, headers=head))

    assert (answer.status, answer.headers["x-request-id"]) == (202, str(REQUEST_ID))
    assert is_joined_to(REQUEST_ID)


@pytest.mark.parametrize("given", [None, b"", b"x" * 36, b"\xff" * 32, b"<script>alert(1)</script>"])
def test_request_without_a_well_formed_id_is_joined_by_its_submission(
    attempt: Attempt, given: bytes | None
) -> None:
    head = [JSON_HEAD] if given is None else [JSON_HEAD, (b"x-request-id", given)]

    answer = ask(request_of(attempt, headers=head))

    assert (answer.status, "x-request-id" in answer.headers) == (202, False)
    assert is_joined_to(Submission.objects.get().pk)


def test_refusal_is_given_under_the_id_too(attempt: Attempt) -> None:
    answer = ask(
        request_of(attempt, token="", headers=[JSON_HEAD, (b"x-request-id", REQUEST_ID.hex.encode())])
    )

    assert (answer.status, answer.headers["x-request-id"]) == (401, str(REQUEST_ID))


@pytest.mark.parametrize(("token", "status"), [(True, 202), (False, 401)])
def test_request_in_one_piece_is_answered_under_its_id_too(
    attempt: Attempt, token: bool, status: int
) -> None:
    bearer = {b"authorization": f"Bearer {token_of(attempt.student)}".encode()} if token else {}
    head = dict([JSON_HEAD, (b"x-request-id", REQUEST_ID.hex.encode())]) | bearer

    answer = async_to_sync(take_whole)(path_of(attempt.pk), head, b'{"answers": {}}')

    assert (answer.status, dict(answer.headers)[b"x-request-id"]) == (status, str(REQUEST_ID).encode())
    assert is_joined_to(REQUEST_ID) is token


def test_lifespan_opens_the_gate_and_runs_it_dry(attempt: Attempt) -> None:
    request = request_of(attempt)
    sent: list[Message] = []

    async def run() -> Answer | None:
        gate = Gate(durability=LocalDurability())
        steps: asyncio.Queue[Message] = asyncio.Queue()
        is_open = asyncio.Event()

        async def send(message: Any) -> None:
            sent.append(message)
            is_open.set()

        living = asyncio.create_task(gate({"type": "lifespan"}, steps.get, send))
        await steps.put({"type": "lifespan.startup"})
        await is_open.wait()
        answer = await request.send_to(gate)
        await steps.put({"type": "lifespan.shutdown"})
        await living
        return answer

    answer = async_to_sync(run)()

    assert answer is not None
    assert answer.status == 202
    assert sent == [{"type": "lifespan.startup.complete"}, {"type": "lifespan.shutdown.complete"}]


def test_gate_without_keys_does_not_open(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.RECEIPT_KEYS = {}
    get_key_ring.cache_clear()
    sent: list[Message] = []

    async def run() -> None:
        steps: asyncio.Queue[Message] = asyncio.Queue()
        for step in ("startup", "shutdown"):
            await steps.put({"type": f"lifespan.{step}"})

        async def send(message: Any) -> None:
            sent.append(message)

        await Gate(durability=LocalDurability())({"type": "lifespan"}, steps.get, send)

    try:
        async_to_sync(run)()
    finally:
        get_key_ring.cache_clear()
    assert sent[0]["type"] == "lifespan.startup.failed"
    assert "no key to sign receipts" in sent[0]["message"]
