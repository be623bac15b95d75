"""A committer's session on the test database, and hand-ins for it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from exams.canonical import canonical_answers, digest
from exams.gate.durability import LocalDurability
from exams.gate.handin import HandIn
from exams.gate.session import Session
from exams.models import Attempt

KEY_ID = "20261129T120000-abcdef"

MakeHandIn = Callable[..., HandIn]


@pytest.fixture
def session(transactional_db: None) -> Iterator[Session]:
    """A connected session of its own."""
    session = Session(durability=LocalDurability(), key_id=KEY_ID)
    session.connect()
    yield session
    session.close()


@pytest.fixture
def make_handin() -> MakeHandIn:
    """Makes a hand-in for an attempt; any field by name."""

    def make(attempt: Attempt, answers: dict[str, Any] | None = None, **fields: Any) -> HandIn:
        text = canonical_answers({"q": "a"} if answers is None else answers)
        defaults = {
            "attempt_id": attempt.id,
            "student_id": attempt.student_id,
            "answers": text,
            "digest": digest(text),
        }
        return HandIn(**defaults | fields)

    return make
