"""What the gate says, in HTTP: a receipt, or a problem in the same words and shape as the rest of the API."""

import json
from typing import Any, NamedTuple

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
from exams.receipts import sign_receipt
from outbox.problems import CONTENT_TYPE, Problem, describe_error

Headers = list[tuple[bytes, bytes]]

_ALWAYS: Headers = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]


class Response(NamedTuple):
    """A whole answer."""

    status: int
    headers: Headers
    body: bytes


def answer(handin: HandIn, verdict: Verdict, ring: KeyRing) -> Response:
    """Return the receipt that a verdict brings, or raise the refusal it means."""
    receipt = sign_receipt(verdict.receipt, ring) if verdict.receipt is not None else None
    match verdict.outcome:
        case Outcome.ACCEPTED:
            return _write(202, receipt)
        case Outcome.REPLAYED:
            return _write(200, receipt, [(b"idempotent-replayed", b"true")])
    raise _refusal(handin, verdict, receipt)


def refuse(error: ExamsError) -> Response:
    """Return the problem an error stands for."""
    problem = describe_error(error)
    assert problem is not None  # every ExamsError has a code and a status
    match error:
        case NotAuthenticated() | InvalidToken():
            return _write_problem(problem, [(b"www-authenticate", error.auth_header.encode())])
        case MethodNotAllowed():
            return _write_problem(problem, [(b"allow", b"POST")])
    return _write_problem(problem, [])


def apologise() -> Response:
    """Return the answer to a defect of ours. It promises nothing about what was stored, and the retry is safe."""
    words = "Something went wrong here; it has been noted. Sending the same request again is safe."
    return _write_problem(Problem("internal_error", 500, words, words), [])


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


def _write(status: int, document: Any, extra: Headers | None = None) -> Response:
    return _respond(status, b"application/json", document, extra or [])


def _write_problem(problem: Problem, extra: Headers) -> Response:
    headers = [(name.lower().encode(), value.encode()) for name, value in problem.headers().items()]
    return _respond(problem.status, CONTENT_TYPE.encode(), problem.body(), headers + extra)


def _respond(status: int, content_type: bytes, document: Any, extra: Headers) -> Response:
    body = json.dumps(document).encode()
    headers = [(b"content-type", content_type), (b"content-length", b"%d" % len(body)), *_ALWAYS, *extra]
    return Response(status, headers, body)
