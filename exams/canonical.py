"""Answers in one exact form: what "equal answers" means, what a draft and a submission store, and what a receipt's digest is of.

Two sets of answers are equal when their canonical texts are, byte for byte. The text is JSON as RFC 8785 writes it (names sorted by UTF-16
code units, no blanks, nothing escaped that need not be), with these rules for answers (docs/answers.md has examples):

- not answered is the same as absent: null, "", [], {}, and such members of a list or map;
- a list is a set: sorted, without repeats;
- a number is written in plain decimal without needless zeros: 2, 2.0 and 2e0 are equal. "2" is a text and is not equal to 2;
- a text is kept exactly as it was sent: no trimming, no case folding, no Unicode normalisation. Reading kindly is the grader's business.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable
from decimal import Decimal
from typing import Any, Final

import orjson

from exams.errors import Malformed

MAX_MEMBERS: Final = 1_000
MAX_CHARACTERS: Final = 200_000
MAX_NAME: Final = 200  # characters of a question's or prompt's id: ours have 36

_SCALARS: Final = frozenset({str, bool, int})

Answer = str | bool | int | Decimal | list[str] | dict[str, str]
Answers = dict[str, Answer]


def canonical_answers(answers: object) -> str:
    """Return the canonical text of an answers object as `exams.strict_json` read it.

    Raises `Malformed`, with a JSON pointer below `/answers`, for what is no answers object: more than 1,000 members, a name over
    200 characters, a text over 200,000, or any value but null, text, number, boolean, list of texts or map from text to text.
    """
    if not isinstance(answers, dict):
        raise Malformed("Answers are an object of question id and value.", pointer="/answers")
    try:
        return _write_scalars(answers) or _write_answered(answers)
    except Malformed as refusal:
        raise _below("answers", refusal) from None


def digest(canonical: str) -> str:
    """Return the SHA-256 of a canonical text, as the receipt shows it: 64 lower-case hex digits."""
    return hashlib.sha256(canonical.encode()).hexdigest()


def read_answers(canonical: str) -> Answers:
    """Return the answers in a canonical text; `canonical_answers` of them gives the same text again."""
    answers: Answers = json.loads(canonical, parse_float=Decimal)
    return answers


def write_number(number: int | Decimal) -> str:
    """Return a finite number in plain decimal, exactly: no exponent, no needless zeros, no negative zero."""
    text = format(number, "f") if isinstance(number, Decimal) else str(number)
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _write_scalars(answers: dict[str, Any]) -> str | None:
    """Return the text of answers that are all texts, whole numbers and booleans, as most are; None if it takes more to write it.

    Then there is nothing to leave out or to bring into order but the names, and in ASCII every order is the same.
    """
    values = answers.values()
    if not _SCALARS.issuperset(map(type, values)) or "" in values:
        return None
    if len(answers) > MAX_MEMBERS or max(map(len, answers), default=0) > MAX_NAME:
        return None
    try:
        text = orjson.dumps(answers, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # an integer of more than 64 bits, or a text that is none
        return None
    return text.decode() if len(text) <= MAX_CHARACTERS and text.isascii() else None


def _write_answered(answers: dict[str, Any]) -> str:
    return orjson.dumps(_object(answers, _value)).decode()


def _object(members: dict[str, Any], read: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the members that are answered, in order, each as it is written."""
    _check_count(members)
    _check_names(members)
    written = {}
    name = ""
    try:
        for name in _in_order(members):
            if (value := read(members[name])) or value is False:
                written[name] = value
    except Malformed as refusal:
        raise _below(name, refusal) from None
    return written


def _set(members: list[Any]) -> list[str]:
    _check_count(members)
    texts = set()
    for index, member in enumerate(members):
        try:
            texts.add(_text(member))
        except Malformed as refusal:
            raise _below(index, refusal) from None
    return _in_order(texts - {""})


def _value(value: object) -> Any:
    """Return what is written for a value; None, "", [] and {} say that there is no answer."""
    if type(value) is str and len(value) <= MAX_CHARACTERS:  # most are
        return value
    match value:
        case bool():
            return value
        case int() | Decimal():
            return orjson.Fragment(write_number(value))
        case list():
            return _set(value)
        case dict():
            return _object(value, _text)
        case None | str():
            return _text(value)
    raise Malformed(
        "An answer is null, a text, a number, a boolean, a list of texts or a map of texts.", pointer=""
    )


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Malformed("Only a text can stand here.", pointer="")
    if len(value) > MAX_CHARACTERS:
        raise Malformed(f"A text may have at most {MAX_CHARACTERS:,} characters.", pointer="")
    return value


def _below(step: str | int, refusal: Malformed) -> Malformed:
    """Let a refusal learn, on its way up, where it came from."""
    escaped = str(step).replace("~", "~0").replace("/", "~1")
    return Malformed(refusal.detail, pointer=f"/{escaped}{refusal.pointer}")


def _in_order(names: Iterable[str]) -> list[str]:
    """Sort by UTF-16 code units, as RFC 8785 and JavaScript do; it differs from Python's order beyond U+FFFF only."""
    listed = sorted(names)
    if "".join(listed).isascii():
        return listed
    return sorted(listed, key=lambda name: name.encode("utf-16-be"))


def _check_count(members: Collection[object]) -> None:
    if len(members) > MAX_MEMBERS:
        raise Malformed(f"There may be at most {MAX_MEMBERS:,} members here.", pointer="")


def _check_names(members: Collection[str]) -> None:
    """Refuse a name that cannot be an id; the pointer is its object's, since the name itself is what is too long."""
    if max(map(len, members), default=0) > MAX_NAME:
        raise Malformed(f"A name here may have at most {MAX_NAME} characters.", pointer="")
