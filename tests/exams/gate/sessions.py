"""Fixtures: a committer's session on the test database, and hand-ins for it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from exams.canonical import canonical_answers, digest
from exams.gate.durability import LocalDurability
from exams.gate.handin import HandIn
from exams.gate.session import Session
from exams.models import Attempt
from exams.receipt_keys import get_key_ring

MakeHandIn = Callable[..., HandIn]


@pytest.fixture
def session(transactional_db: None) -> Iterator[Session]:
    """A connected session of its own."""
    session = Session(durability=LocalDurability(), key_id=get_key_ring().signing_id)
    session.connect()
    yield session
    session.close()


@pytest.fixture
def make_handin() -> MakeHandIn:
    """Makes a hand-in of `answers` for an attempt; any field by name."""

    def make(attempt: Attempt, answers: dict[str, Any] | None = None, **fields: Any) -> HandIn:
        text = canonical_answers({"q": "a"} if answers is None else answers)
        defaults: dict[str, Any] = {
            "attempt_id": attempt.pk,
            "student_id": attempt.student_id,
            "answers": text,
            "digest": digest(text),
        }
        return HandIn(**defaults | fields)

    return make
