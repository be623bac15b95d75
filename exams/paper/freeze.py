"""Freezing: the paper students get, and the key that only the grader reads.

Ids in the paper are digests of row ids, so that neither the order of writing nor the right answer shows in them. What may be matched is
listed in the order of those ids, which is a shuffle that stays the same for ever; choices keep the author's order.
"""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from exams.canonical import write_number
from exams.paper.drafts import OptionDraft, QuestionDraft
from exams.paper.text import render_inline, render_text


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    """`paper`: list of questions as the API shows them. `key`: question id -> what `exams.grading.read_key` reads."""

    paper: list[dict[str, Any]]
    key: dict[str, Any]
    max_points: Decimal

    @property
    def paper_digest(self) -> str:
        """The SHA-256 of the paper as JSON with sorted names and no blanks, as 64 lower-case hex digits."""
        text = json.dumps(self.paper, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def freeze(questions: Iterable[QuestionDraft]) -> Frozen:
    """Return paper and key of questions in which `find_problems` found nothing."""
    questions = list(questions)
    return Frozen(
        paper=[_paper_entry(question) for question in questions],
        key={str(question.id): _key_entry(question) for question in questions},
        max_points=sum((question.points for question in questions), Decimal(0)),
    )


def _paper_entry(question: QuestionDraft) -> dict[str, Any]:
    text, text_format = render_text(question.text, question.text_format)
    entry = {
        "id": str(question.id),
        "kind": question.kind,
        "text": text,
        "text_format": text_format,
        "points": _number(question.points),
    }
    return entry | _SHOWN.get(question.kind, _nothing)(question)


def _key_entry(question: QuestionDraft) -> dict[str, Any]:
    entry = {"kind": question.kind, "points": write_number(question.points)}
    return entry | _KEYS[question.kind](question) | _feedback(question)


def _feedback(question: QuestionDraft) -> dict[str, Any]:
    """Return what the author says, with the names that `exams.grading.feedback` finds an answer's by; nothing where nothing is said."""
    general, _ = render_text(question.feedback, question.text_format)
    to_answers = [
        [name, render_text(option.feedback, question.text_format)[0]]
        for name, option in _named_options(question)
        if option.feedback.strip()
    ]
    if not general.strip() and not to_answers:
        return {}
    return {"feedback": {"general": general, "answers": to_answers}}


def _named_options(question: QuestionDraft) -> list[tuple[str | int, OptionDraft]]:
    """Return the options with what the key calls them: an id, or the place among ranges or patterns."""
    match question.kind:
        case "single_choice" | "multiple_choice":
            return [(_opaque("choice", option), option) for option in question.options]
        case "true_false":
            return [(option.text, option) for option in question.options]
        case "numeric":
            ranges = [
                option for option in question.options if option.low is not None and option.high is not None
            ]
            return list(enumerate(ranges))
        case "short_text":
            return list(enumerate(question.options))
        case "matching":
            return [(_opaque("prompt", option), option) for option in question.options if option.text]
    return []


def _nothing(_: QuestionDraft) -> dict[str, Any]:
    return {}


def _choices(question: QuestionDraft) -> dict[str, Any]:
    return {
        "choices": [
            {"id": _opaque("choice", option), "text": render_inline(option.text, question.text_format)}
            for option in question.options
        ]
    }


def _prompts(question: QuestionDraft) -> dict[str, Any]:
    matches = {_match_id(question, option): option.match_text for option in question.options}
    return {
        "prompts": [
            {"id": _opaque("prompt", option), "text": render_inline(option.text, question.text_format)}
            for option in question.options
            if option.text
        ],
        "choices": [
            {"id": match_id, "text": render_inline(text, question.text_format)}
            for match_id, text in sorted(matches.items())
        ],
    }


def _fractions(question: QuestionDraft) -> dict[str, Any]:
    return {
        "fractions": {_opaque("choice", option): write_number(option.fraction) for option in question.options}
    }


def _true_false(question: QuestionDraft) -> dict[str, Any]:
    return {"fractions": {option.text: write_number(option.fraction) for option in question.options}}


def _ranges(question: QuestionDraft) -> dict[str, Any]:
    return {
        "ranges": [
            [write_number(option.low), write_number(option.high), write_number(option.fraction)]
            for option in question.options
            if option.low is not None and option.high is not None
        ]
    }


def _patterns(question: QuestionDraft) -> dict[str, Any]:
    patterns = [[option.text, write_number(option.fraction)] for option in question.options]
    return {"patterns": patterns, "is_case_sensitive": question.is_case_sensitive}


def _pairs(question: QuestionDraft) -> dict[str, Any]:
    return {
        "pairs": {
            _opaque("prompt", option): _match_id(question, option)
            for option in question.options
            if option.text
        }
    }


def _opaque(role: str, option: OptionDraft) -> str:
    return hashlib.sha256(role.encode() + option.id.bytes).hexdigest()[:16]


def _match_id(question: QuestionDraft, option: OptionDraft) -> str:
    """Return one id for all options with the same thing to match: two prompts may have the same right answer."""
    twins = [other for other in question.options if other.match_text == option.match_text]
    return _opaque("match", min(twins, key=lambda other: other.id))


def _number(number: Decimal) -> int | float:
    return int(number) if number == number.to_integral_value() else float(number)


_SHOWN: dict[str, Callable[[QuestionDraft], dict[str, Any]]] = {
    "single_choice": _choices,
    "multiple_choice": _choices,
    "matching": _prompts,
}
_KEYS: dict[str, Callable[[QuestionDraft], dict[str, Any]]] = {
    "single_choice": _fractions,
    "multiple_choice": _fractions,
    "true_false": _true_false,
    "numeric": _ranges,
    "short_text": _patterns,
    "matching": _pairs,
    "essay": _nothing,
    "upload": _nothing,
}
