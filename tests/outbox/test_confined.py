"""Whoever looks into a stranger's file: bounded, and blamed on the file only where the file is to blame."""

import io

import pytest

from outbox.confined import LookInterrupted, Unreadable, look_into
from tests.outbox.looking import SECONDS


def _look(what: str) -> dict[str, object]:
    return look_into(io.BytesIO(b"12345"), "tests.outbox.looking", what, seconds=20 * SECONDS)


def test_what_the_program_says_is_returned_and_it_knows_no_settings() -> None:
    assert _look("count") == {"size": 5, "settings": False}


@pytest.mark.parametrize(
    ("what", "why"),
    [("spin", "ended with -24"), ("grow", "MemoryError"), ("repeat", "ended with -25")],
)
def test_file_that_takes_too_much_is_unreadable(what: str, why: str) -> None:
    """Told apart from a kill of the kernel's, which would have the file looked into again and again."""
    with pytest.raises(Unreadable, match=why):
        _look(what)


@pytest.mark.parametrize(
    ("what", "why"), [("die", "ended by signal 9"), ("lack", "ImportError: No module named 'decoder'")]
)
def test_what_no_file_can_cause_is_not_blamed_on_it(what: str, why: str) -> None:
    with pytest.raises(LookInterrupted, match=why):
        _look(what)
