"""One small function per kind of question: it takes the question's entry in the key and returns what judges an answer.

The rule every kind keeps: whatever arrives, answer with a verdict. A blank answer never gets here.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeGuard

from exams.grading.numerals import read_numeral
from exams.grading.patterns import MAX_CHARACTERS, Pattern, fold
from exams.grading.verdicts import NEEDS_MARKING, UNREADABLE, Verdict, verdict

Entry = Mapping[str, Any]
Judge = Callable[[object], Verdict]

_NOTHING = Fraction(0)


def single_choice(entry: Entry) -> Judge:
    """Judge one choice id: it earns what the choice is worth."""
    verdicts = {choice: verdict(_percent(worth)) for choice, worth in entry["fractions"].items()}

    def judge(answer: object) -> Verdict:
        return verdicts.get(answer, UNREADABLE) if isinstance(answer, str) else UNREADABLE

    return judge


def multiple_choice(entry: Entry) -> Judge:
    """Judge a list of choice ids: their worths added up, as a share of all the right ones; wrong ticks subtract, never below 0.

    Dividing by what the right ones add up to makes three times 33.33333 % full marks, exactly.
    """
    worths = {choice: Fraction(worth) for choice, worth in entry["fractions"].items()}
    total = sum((worth for worth in worths.values() if worth > 0), _NOTHING)
    shares = {choice: worth / total for choice, worth in worths.items()}

    def judge(answer: object) -> Verdict:
        if not _is_list_of_texts(answer):
            return UNREADABLE
        ticked = set(answer)
        share = sum((shares[choice] for choice in ticked & shares.keys()), _NOTHING)
        return verdict(share, _note_unknown(len(ticked - shares.keys()), "choice"))

    return judge


def true_false(entry: Entry) -> Judge:
    """Judge a boolean."""
    verdicts = {truth: verdict(_percent(entry["fractions"][text])) for truth, text in _TRUTHS.items()}

    def judge(answer: object) -> Verdict:
        return verdicts[answer] if isinstance(answer, bool) else UNREADABLE

    return judge


def numeric(entry: Entry) -> Judge:
    """Judge a number, or a text that is one: it earns the best of the ranges it lies in, ends included."""
    ranges = [(Decimal(low), Decimal(high), _percent(worth)) for low, high, worth in entry["ranges"]]

    def judge(answer: object) -> Verdict:
        number = read_numeral(answer)
        if number is None:
            return UNREADABLE
        return verdict(max((worth for low, high, worth in ranges if low <= number <= high), default=_NOTHING))

    return judge


def short_text(entry: Entry) -> Judge:
    """Judge a short text: it earns the best of the patterns it matches."""
    is_case_sensitive = bool(entry["is_case_sensitive"])
    patterns = [
        (Pattern(text, is_case_sensitive=is_case_sensitive), _percent(worth))
        for text, worth in entry["patterns"]
    ]

    def judge(answer: object) -> Verdict:
        text = as_text(answer)
        if text is None or len(text) > MAX_CHARACTERS:
            return UNREADABLE
        folded = fold(text, is_case_sensitive=is_case_sensitive)
        return verdict(
            max((worth for pattern, worth in patterns if pattern.matches(folded)), default=_NOTHING)
        )

    return judge


def matching(entry: Entry) -> Judge:
    """Judge a map from prompt id to choice id: each right pair earns an equal share."""
    pairs: dict[str, str] = entry["pairs"]
    share = Fraction(1, len(pairs))

    def judge(answer: object) -> Verdict:
        if not isinstance(answer, Mapping):
            return UNREADABLE
        right = sum(answer.get(prompt) == choice for prompt, choice in pairs.items())
        return verdict(right * share, _note_unknown(len(answer.keys() - pairs.keys()), "prompt"))

    return judge


def essay(_: Entry) -> Judge:
    """Leave every answer to a person."""
    return lambda _: NEEDS_MARKING


def upload(_: Entry) -> Judge:
    """Leave every file to a person. The answer is the digest of one; whether it has arrived is looked up by the worker."""
    return lambda _: NEEDS_MARKING


def _percent(worth: str) -> Fraction:
    return Fraction(worth) / 100


def _is_list_of_texts(answer: object) -> TypeGuard[list[str]]:
    return isinstance(answer, list) and all(isinstance(member, str) for member in answer)


def as_text(answer: object) -> str | None:
    """Return the text of a short answer, also of a number: whoever types 1822 may have a client that sends it as one."""
    match answer:
        case str():
            return answer
        case bool():
            return None
        case int() | Decimal():
            return format(answer, "f") if isinstance(answer, Decimal) else str(answer)
    return None


def _note_unknown(count: int, what: str) -> str:
    return f"Not counted: {count} {what}{'s'[: count != 1]} this question does not have." if count else ""


_TRUTHS = {True: "true", False: "false"}
KINDS: dict[str, Callable[[Entry], Judge]] = {
    "single_choice": single_choice,
    "multiple_choice": multiple_choice,
    "true_false": true_false,
    "numeric": numeric,
    "short_text": short_text,
    "matching": matching,
    "essay": essay,
    "upload": upload,
}
