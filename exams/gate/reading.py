"""From an ASGI request to a hand-in, cheapest refusal first: address, bearer, head, body, answers.

The written rule: a body is JSON in UTF-8, of at most 1 MiB whatever its head declares. A hand-in has *arrived* when the last
byte of its body has; from then on no waiting counts against the student. Members of the body other than `answers` are
ignored.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from uuid import UUID

from exams import strict_json, tokens
from exams.canonical import canonical_answers, digest
from exams.errors import Malformed, NotAuthenticated, NotFound, TooLarge, UnsupportedMediaType
from exams.gate.admission import Share
from exams.gate.handin import HandIn
from exams.media_type import LARGEST_BODY, is_json
from outbox.correlation import read_request_id

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Head = Mapping[bytes, bytes]

_PATH = re.compile(r"/api/v1/attempts/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/submission")


class ClientGone(Exception):
    """The client hung up before its request was complete: there is nobody to answer."""


def read_attempt_id(path: str) -> UUID:
    """Return the attempt that an address names, or raise `NotFound`. As everywhere, an id is in lower case: one address a thing."""
    found = _PATH.fullmatch(path)
    if found is None:
        raise NotFound
    return UUID(found[1])


def find_request_id(head: Head) -> UUID | None:
    """Return what the request calls itself, by the rule of all doors. Most say nothing, and pay one look into the head."""
    given = head.get(b"x-request-id")
    return None if given is None else read_request_id(given.decode("latin-1"))


def read_student_id(head: Head) -> UUID:
    """Return who sent this, by the bearer token alone; raises `NotAuthenticated` or `InvalidToken`."""
    scheme, _, token = head.get(b"authorization", b"").partition(b" ")
    if scheme.lower() != b"bearer":
        raise NotAuthenticated
    return tokens.verify(token.strip().decode("latin-1")).user_id


def check_head(head: Head) -> None:
    """Refuse, before the body is read, what is no plain JSON or says itself that it is too large."""
    if b"content-encoding" in head or not is_json(head.get(b"content-type", b"").decode("latin-1")):
        raise UnsupportedMediaType
    declared = head.get(b"content-length", b"0")
    if not declared.isdigit():
        raise Malformed("Content-Length is not a number.")
    if int(declared[:20]) > LARGEST_BODY:
        raise TooLarge


async def read_body(receive: Receive, share: Share) -> bytes:
    """Return the whole body; raises `TooLarge`, `Overloaded` or `ClientGone` as soon as it is certain. Not bounded in time."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGone
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > LARGEST_BODY:
            raise TooLarge
        share.hold(len(chunk))
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def read_handin(body: bytes, *, attempt_id: UUID, student_id: UUID, arrived_at: float) -> HandIn:
    """Return the hand-in a body makes, its answers in canonical form; raises `Malformed` with a JSON pointer."""
    document = strict_json.load(body)
    if not isinstance(document, dict):
        raise Malformed("The body must be an object with the member `answers`.", pointer="")
    if "answers" not in document:
        raise Malformed("The member `answers` is missing.", pointer="/answers")
    answers = canonical_answers(document["answers"])
    return HandIn(attempt_id, student_id, answers, digest(answers), arrived_at)
