"""GIFT texts read in one line: what the tests of the reader compare."""

import pytest

from exams.gift import GiftRefused, read_gift
from exams.paper import QuestionDraft


def questions(text: str) -> list[QuestionDraft]:
    return read_gift(text.encode()).questions


def question(text: str) -> QuestionDraft:
    (only,) = questions(text)
    return only


def weights(text: str) -> dict[str, str]:
    return {option.text: format(option.fraction, "f") for option in question(text).options}


def ranges(text: str) -> list[tuple[str, str, str]]:
    options = question(text).options
    return [(str(option.low), str(option.high), format(option.fraction, "f")) for option in options]


def faults(text: str | bytes) -> list[str]:
    with pytest.raises(GiftRefused) as caught:
        read_gift(text.encode() if isinstance(text, str) else text)
    return [str(fault) for fault in caught.value.faults]
