"""What the gate says, in HTTP: a receipt, or a problem in the same words and shape as the rest of the API."""

import json
from typing import NamedTuple
from uuid import UUID

from exams.errors import (
    AttemptClosed,
    DifferentAnswers,
    ExamsError,
    InvalidToken,
    MethodNotAllowed,
    NotAuthenticated,
    NotFound,
    OutcomeUnknown,
)
from exams.gate.admission import draw_retry_after, overloaded
from exams.gate.handin import HandIn, Outcome, Verdict
from exams.local_time import write_utc
from exams.receipt_keys import KeyRing
from exams.receipts import sign_receipt, write_receipt
from outbox.problems import CONTENT_TYPE, Problem, describe_error

Header = tuple[bytes, bytes]

_JSON = b"application/json"
_ALWAYS: list[Header] = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]


class Response(NamedTuple):
    """A whole answer."""

    status: int
    headers: list[Header]
    body: bytes


def answer(handin: HandIn, verdict: Verdict, ring: KeyRing) -> Response:
    """Return the receipt that a verdict brings, or raise the refusal it means."""
    receipt = verdict.receipt
    if verdict.outcome is Outcome.ACCEPTED and receipt is not None:
        return _respond(202, _JSON, write_receipt(receipt, ring))
    if verdict.outcome is Outcome.REPLAYED and receipt is not None:
        return _respond(200, _JSON, write_receipt(receipt, ring), (b"idempotent-replayed", b"true"))
    raise _refusal(handin, verdict, None if receipt is None else sign_receipt(receipt, ring))


def name_answer(response: Response, request_id: UUID | None) -> Response:
    """Return the answer to a request that called itself something, under that id; to any other as it is."""
    if request_id is None:
        return response
    return response._replace(headers=[*response.headers, (b"x-request-id", str(request_id).encode())])


def refuse(error: ExamsError) -> Response:
    """Return the problem an error stands for."""
    problem = describe_error(error)
    assert problem is not None  # every ExamsError has a code and a status
    match error:
        case NotAuthenticated() | InvalidToken():
            return _write_problem(problem, (b"www-authenticate", error.auth_header.encode()))
        case MethodNotAllowed():
            return _write_problem(problem, (b"allow", b"POST"))
    return _write_problem(problem)


def apologise() -> Response:
    """Return the answer to a defect of ours. It promises nothing about what was stored, and the retry is safe."""
    words = "Something went wrong here; it has been noted. Sending the same request again is safe."
    return _write_problem(Problem("internal_error", 500, words, words))


def _refusal(handin: HandIn, verdict: Verdict, receipt: dict[str, str | int] | None) -> ExamsError:
    match verdict.outcome:
        case Outcome.DIFFERENT:
            assert receipt is not None
            return DifferentAnswers(
                stored_sha256=receipt["payload_sha256"], sent_sha256=handin.digest, receipt=receipt
            )
        case Outcome.CLOSED:
            return _closed(verdict, receipt)
        case Outcome.NOT_FOUND:
            return NotFound()
        case Outcome.NOT_STORED:
            return overloaded(
                "Your answers were not stored; please send the same request again after Retry-After."
            )
    return OutcomeUnknown(retry_after=draw_retry_after())


def _closed(verdict: Verdict, receipt: dict[str, str | int] | None) -> AttemptClosed:
    assert verdict.closed_at is not None
    closed_at = write_utc(verdict.closed_at)
    if receipt is None:
        return AttemptClosed(
            f"This attempt ended at {closed_at} ({verdict.rule}); nothing more is accepted for it.",
            closed_at=closed_at,
            rule=verdict.rule,
        )
    return AttemptClosed(
        f"The server ended this attempt at {closed_at} ({verdict.rule}) and handed in what had been saved by then.",
        closed_at=closed_at,
        rule=verdict.rule,
        receipt=receipt,
    )


def _write_problem(problem: Problem, *extra: Header) -> Response:
    headers = [(name.lower().encode(), value.encode()) for name, value in problem.headers().items()]
    body = json.dumps(problem.body()).encode()
    return _respond(problem.status, CONTENT_TYPE.encode(), body, *headers, *extra)


def _respond(status: int, content_type: bytes, body: bytes, *extra: Header) -> Response:
    headers = [(b"content-type", content_type), (b"content-length", b"%d" % len(body)), *_ALWAYS, *extra]
    return Response(status, headers, body)
