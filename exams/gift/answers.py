"""What stands between the braces: which kind of question it makes, and its answers."""

import dataclasses
import re
from decimal import Decimal, localcontext
from typing import Final

from exams.canonical import write_number
from exams.gift.blocks import Unreadable, split_format
from exams.gift.escapes import show
from exams.gift.texts import Part
from exams.grading.numerals import read_numeral
from exams.paper.drafts import Kind

FULL: Final = Decimal(100)
NOTHING: Final = Decimal(0)
SILENT: Final = Part("")
WHOLE_DIGITS, DECIMALS, WEIGHT_DECIMALS = 25, 15, 5  # what the columns of a range's ends and of a weight hold

_mark = re.compile(r"[=~]")
_weight = re.compile(r"\s*%([^%\n]*)%")
_cloze = re.compile(r"\d*:[A-Z_]+:")


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """One answer as written, escapes shown; for a number `text` is empty and the range is set."""

    text: str
    text_format: str | None
    weight: Decimal
    feedback: Part = SILENT
    match_text: str = ""
    low: Decimal | None = None
    high: Decimal | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Written:
    """An answer still with its mark and escapes hidden."""

    mark: str
    weight: Decimal
    text: str
    feedback: Part


@dataclasses.dataclass(frozen=True, slots=True)
class AnswerBlock:
    """The braces read: the kind of question, its answers, and what is said to everybody.

    `unsaid` names feedback that nobody will read, because a question has no place for it; empty where there is none.
    """

    kind: Kind
    answers: list[Answer]
    feedback: Part
    unsaid: str = ""


def read_answers(block: str) -> AnswerBlock:
    """Return what the text between the braces says, or raise `Unreadable`."""
    body, _, general = block.partition("####")
    body = body.strip()
    kind, answers = _read(body)
    return AnswerBlock(kind, answers, _say(general), _find_unsaid(kind, answers, body))


def _find_unsaid(kind: Kind, answers: list[Answer], body: str) -> str:
    """Say which feedback is not taken over, or taken over and never said."""
    if kind == "numeric" and any(_is_rest(each) and each.feedback.text for each in _number_lines(body[1:])):
        return "feedback to all other numbers is not kept."
    if kind == "matching" and any(each.feedback.text and not each.text for each in answers):
        return "feedback to a choice that belongs to nothing is never said: only right pairs are answered."
    return ""


def _read(body: str) -> tuple[Kind, list[Answer]]:
    if not body:
        return "essay", []
    if body.startswith("#"):
        return "numeric", _numbers(body[1:])
    if _cloze.match(body):
        raise Unreadable("this is a question with gaps (cloze), which is not supported.")
    if (truth := body.partition("#")[0].strip().upper()) in _TRUTHS:
        return "true_false", _truths(body, is_true=_TRUTHS[truth])
    written = _split(body)
    if any(answer.mark == "~" for answer in written):
        is_single = any(answer.mark == "=" for answer in written)
        return ("single_choice" if is_single else "multiple_choice"), [_text(answer) for answer in written]
    if any("->" in answer.text for answer in written):
        return "matching", [_pair(answer) for answer in written]
    return "short_text", [_text(answer) for answer in written]


def _split(body: str) -> list[Written]:
    """Cut answers at their marks."""
    marks = list(_mark.finditer(body))
    before = body[: marks[0].start()] if marks else body
    if before.strip():
        raise Unreadable(
            f"“{show(before)}” is no kind of answer that is supported: answers begin with = or ~."
        )
    ends = [mark.start() for mark in marks[1:]] + [len(body)]
    return [_written(mark[0], body[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]


def _written(mark: str, text: str) -> Written:
    weight = FULL if mark == "=" else NOTHING
    if given := _weight.match(text):
        weight, text = _read_weight(given[1]), text[given.end() :]
    text, _, feedback = text.partition("#")
    return Written(mark, weight, text, _say(feedback))


def _say(text: str) -> Part:
    """Return feedback, which may name a format of its own."""
    text_format, text = split_format(text)
    return Part(show(text), text_format)


def _read_weight(text: str) -> Decimal:
    weight = read_numeral(show(text))
    if weight is None or not -FULL <= weight <= FULL:
        raise Unreadable(f"“%{show(text)}%” is no weight between -100 and 100.")
    if _decimals(Decimal(weight)) > WEIGHT_DECIMALS:
        raise Unreadable(f"“%{show(text)}%” has more than five decimals.")
    return Decimal(weight)


def _text(written: Written) -> Answer:
    text_format, text = split_format(written.text)
    return Answer(show(text), text_format, written.weight, written.feedback)


def _pair(written: Written) -> Answer:
    text_format, text = split_format(written.text)
    prompt, arrow, match = text.partition("->")
    if not arrow:
        raise Unreadable(f"“{show(text)}” has nothing to match: a pair is written = this -> that.")
    return Answer(show(prompt), text_format, NOTHING, written.feedback, match_text=show(match))


def _truths(body: str, *, is_true: bool) -> list[Answer]:
    """Read `T#said to who is wrong#said to who is right`."""
    _, _, said = body.partition("#")
    to_wrong, _, to_right = said.partition("#")
    right, wrong = (FULL, _say(to_right)), (NOTHING, _say(to_wrong))
    return [
        Answer("true", None, *(right if is_true else wrong)),
        Answer("false", None, *(wrong if is_true else right)),
    ]


def _numbers(body: str) -> list[Answer]:
    return [_range(answer) for answer in _number_lines(body) if not _is_rest(answer)]


def _number_lines(body: str) -> list[Written]:
    """Cut numbers at their marks; before the first there may be a number without one, `{#5#said to it ~#said to all others}`."""
    return _split(body if body.strip().startswith(("=", "~")) else f"={body}")


def _is_rest(written: Written) -> bool:
    """Return whether this only comments on all other numbers (`~`, or `*`, worth nothing)."""
    return written.weight == 0 and written.text.strip() in ("", "*")


def _range(written: Written) -> Answer:
    text = show(written.text)
    with localcontext(prec=100):  # or a sum of fifty digits would be rounded
        low, high = _ends(text)
    if low > high:
        raise Unreadable(f"“{text}” ends before it begins.")
    if max(-low, high) >= 10**WHOLE_DIGITS or max(_decimals(low), _decimals(high)) > DECIMALS:
        raise Unreadable(
            f"“{text}” has more digits than {WHOLE_DIGITS} before or {DECIMALS} after the point."
        )
    return Answer("", None, written.weight, written.feedback, low=low, high=high)


def _ends(text: str) -> tuple[Decimal, Decimal]:
    """Return the ends of `low..high`, `number:tolerance` or a number alone."""
    low, dots, high = text.partition("..")
    if dots:
        return _number(low, text), _number(high, text)
    value, colon, tolerance = text.partition(":")
    middle, margin = _number(value, text), _number(tolerance, text) if colon else NOTHING
    return middle - margin, middle + margin


def _number(text: str, whole: str) -> Decimal:
    number = read_numeral(text)
    if number is None:
        raise Unreadable(f"“{whole}” is no number, no number:tolerance and no range from..to.")
    return Decimal(number)


def _decimals(number: Decimal) -> int:
    return len(write_number(number).partition(".")[2])


_TRUTHS = {"T": True, "TRUE": True, "F": False, "FALSE": False}
