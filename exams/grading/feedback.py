"""What the author of a question says to a student: to whoever gave this answer, and to everybody.

A function of a question's entry in the key and the canonical answer, as judging is, and like it never at a loss for an answer. It is part of the
key, because it tells what is right: `exams.queries.feedback` says when a student may read it.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from exams.grading.kinds import Entry, as_text
from exams.grading.numerals import read_numeral
from exams.grading.patterns import MAX_CHARACTERS, Pattern, fold

Name = str | int


@dataclasses.dataclass(frozen=True, slots=True)
class Feedback:
    """What is said, in the format the question has in the paper; `to_answer` in the author's order."""

    to_answer: tuple[str, ...]
    general: str


def find_feedback(entry: Entry, answer: object) -> Feedback | None:
    """Return what is said of this answer (None: not answered), or None where nothing is."""
    said: Mapping[str, Any] = entry.get("feedback", {})
    given = _GIVEN.get(entry["kind"], _nothing)(entry, answer)
    to_answer = tuple(text for name, text in said.get("answers", ()) if name in given)
    general = said.get("general", "")
    return Feedback(to_answer, general) if to_answer or general else None


def _nothing(_: Entry, __: object) -> Collection[Name]:
    return ()


def _choice(_: Entry, answer: object) -> Collection[Name]:
    return (answer,) if isinstance(answer, str) else ()


def _choices(_: Entry, answer: object) -> Collection[Name]:
    return [each for each in answer if isinstance(each, str)] if isinstance(answer, list) else ()


def _truth(_: Entry, answer: object) -> Collection[Name]:
    return (str(answer).lower(),) if isinstance(answer, bool) else ()


def _range(entry: Entry, answer: object) -> Collection[Name]:
    number = read_numeral(answer)
    if number is None:
        return ()
    return _best(entry["ranges"], lambda low, high: Decimal(low) <= number <= Decimal(high))


def _pattern(entry: Entry, answer: object) -> Collection[Name]:
    text, is_case_sensitive = as_text(answer), bool(entry["is_case_sensitive"])
    if text is None or len(text) > MAX_CHARACTERS:
        return ()
    folded = fold(text, is_case_sensitive=is_case_sensitive)
    return _best(
        entry["patterns"],
        lambda pattern: Pattern(pattern, is_case_sensitive=is_case_sensitive).matches(folded),
    )


def _pairs(entry: Entry, answer: object) -> Collection[Name]:
    """Name the prompts that were matched right."""
    if not isinstance(answer, Mapping):
        return ()
    return [prompt for prompt, choice in entry["pairs"].items() if answer.get(prompt) == choice]


def _best(accepted: list[list[str]], fits: Callable[..., bool]) -> Collection[Name]:
    """Name the place of what is worth most among what fits, the first of equals: what the answer was judged by."""
    fitting = [(Fraction(worth), -place) for place, (*what, worth) in enumerate(accepted) if fits(*what)]
    return (-max(fitting)[1],) if fitting else ()


_GIVEN: dict[str, Callable[[Entry, object], Collection[Name]]] = {
    "single_choice": _choice,
    "multiple_choice": _choices,
    "true_false": _truth,
    "numeric": _range,
    "short_text": _pattern,
    "matching": _pairs,
}
