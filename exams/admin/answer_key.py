"""The key in words, for staff who check a paper."""

import dataclasses
from decimal import Decimal

from exams.canonical import write_number
from exams.paper import OptionDraft, QuestionDraft
from exams.paper.text import plain_text


@dataclasses.dataclass(frozen=True, slots=True)
class AnswerLine:
    """One answer, what it is worth, and what its author says to whoever gives it."""

    text: str
    worth: str
    is_right: bool
    feedback: str = ""


def describe_answers(question: QuestionDraft) -> list[AnswerLine]:
    """Return the answers to a question as a person reads them."""
    if question.kind == "matching":
        return [_pair(question, option) for option in question.options]
    return [
        AnswerLine(_text(question, option), _percent(option.fraction), option.fraction > 0, option.feedback)
        for option in question.options
    ]


def _pair(question: QuestionDraft, option: OptionDraft) -> AnswerLine:
    prompt, match = (plain_text(text, question.text_format) for text in (option.text, option.match_text))
    if not prompt:
        return AnswerLine(match, "matches nothing", is_right=False, feedback=option.feedback)
    return AnswerLine(f"{prompt} → {match}", "", is_right=True, feedback=option.feedback)


def _text(question: QuestionDraft, option: OptionDraft) -> str:
    if question.kind == "numeric":
        return _range(option.low, option.high)
    return option.text if question.kind == "short_text" else plain_text(option.text, question.text_format)


def _range(low: Decimal | None, high: Decimal | None) -> str:
    if low is None or high is None:
        return "no number"
    return write_number(low) if low == high else f"{write_number(low)} to {write_number(high)}"


def _percent(fraction: Decimal) -> str:
    return f"{write_number(fraction)} %"
