"""Why a question cannot be graded right. Anything named here is never published and never imported.

Each rule guards against a paper on which everybody gets 0, or everybody gets full marks, without anyone noticing.
"""

import dataclasses
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal

from exams.canonical import MAX_MEMBERS
from exams.paper.drafts import QuestionDraft, TextFormat
from exams.paper.text import has_media, plain_text

FULL = Decimal(100)
TOLERANCE = Decimal("0.01")  # three thirds are written 33.33333 and add up to 99.99999


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with which question; `number` is its place in the paper, from 1."""

    number: int
    name: str
    message: str

    def __str__(self) -> str:
        return f"Question {self.number} ({self.name}): {self.message}"


def find_problems(questions: Iterable[QuestionDraft]) -> list[Problem]:
    """Return everything that keeps these questions from being published, in paper order."""
    return [
        Problem(number, name_of(question), message)
        for number, question in enumerate(questions, start=1)
        for message in problems_of(question)
    ]


def find_warnings(questions: Iterable[QuestionDraft]) -> list[Problem]:
    """Return what an author should look at again, though it can be graded."""
    return [
        Problem(number, name_of(question), message)
        for number, question in enumerate(questions, start=1)
        for message in warnings_of(question)
    ]


def name_of(question: QuestionDraft) -> str:
    """Return the title, or the beginning of the text where there is none."""
    if question.title:
        return question.title
    return textwrap.shorten(plain_text(question.text, question.text_format), 60, placeholder="...")


def problems_of(question: QuestionDraft) -> Iterator[str]:
    """Yield what is wrong with one question."""
    if not plain_text(question.text, question.text_format):
        yield "has no text."
    if question.points <= 0:
        yield "must be worth more than 0 points."
    if len(question.options) > MAX_MEMBERS:
        yield f"has more than {MAX_MEMBERS:,} choices, answers or pairs."
    texts = [question.text, *(text for o in question.options for text in (o.text, o.match_text))]
    if any(has_media(text, question.text_format) for text in texts):
        yield "shows a picture, sound or frame, which a paper cannot carry yet."
    yield from _RULES[question.kind](question)


def warnings_of(question: QuestionDraft) -> Iterator[str]:
    """Yield what looks like an oversight in one question."""
    said = [question.feedback, *(o.feedback for o in question.options)]
    if any(has_media(text, question.text_format) for text in said):
        yield "has feedback with a picture, sound or frame, which will be left out."
    worths = {o.fraction for o in question.options}
    if question.kind == "multiple_choice" and min(worths, default=0) == 0:
        yield "gives full marks to whoever ticks everything; give the wrong choices a negative weight."


def _choice_problems(question: QuestionDraft) -> Iterator[str]:
    if len(question.options) < 2:  # noqa: PLR2004 - with one choice there is nothing to choose
        yield "needs at least two choices."
    yield from _text_problems(question, "choice")


def _single_choice(question: QuestionDraft) -> Iterator[str]:
    yield from _choice_problems(question)
    yield from _full_marks_problems(question)


def _multiple_choice(question: QuestionDraft) -> Iterator[str]:
    yield from _choice_problems(question)
    total = sum((o.fraction for o in question.options if o.fraction > 0), Decimal(0))
    if not total:
        yield "has no right choice."
    elif abs(total - FULL) > TOLERANCE:
        yield f"has right choices that add up to {total.normalize():f} %, not 100 %."


def _true_false(question: QuestionDraft) -> Iterator[str]:
    fractions = {o.text: o.fraction for o in question.options}
    if len(question.options) != 2 or set(fractions) != {"true", "false"}:  # noqa: PLR2004 - true and false
        yield 'needs exactly the two choices "true" and "false".'
    elif sorted(fractions.values()) != [0, FULL]:
        yield "needs one of true and false worth 100 % and the other 0 %."


def _numeric(question: QuestionDraft) -> Iterator[str]:
    if any(o.low is None or o.high is None for o in question.options):
        yield "has an answer without a number."
    elif any(o.low > o.high for o in question.options if o.low is not None and o.high is not None):
        yield "has a range whose lower end is above its upper end."
    yield from _full_marks_problems(question)


def _short_text(question: QuestionDraft) -> Iterator[str]:
    yield from _text_problems(question, "answer")
    yield from _full_marks_problems(question)


def _matching(question: QuestionDraft) -> Iterator[str]:
    pairs = [o for o in question.options if o.text]
    if len(pairs) < 2:  # noqa: PLR2004 - one pair matches itself
        yield "needs at least two pairs."
    if any(not plain_text(o.match_text, question.text_format) for o in question.options):
        yield "has an entry with nothing to match."
    elif len({o.match_text for o in question.options}) < 2:  # noqa: PLR2004 - as above
        yield "needs at least two different things to match."
    yield from _repeats([o.text for o in pairs], "prompt")


def _essay(question: QuestionDraft) -> Iterator[str]:
    if question.options:
        yield "is an essay, which a person marks: it has no answers to list."


def _upload(question: QuestionDraft) -> Iterator[str]:
    if question.options:
        yield "asks for a photo or PDF, which a person marks: it has no answers to list."


def _full_marks_problems(question: QuestionDraft) -> Iterator[str]:
    if not any(o.fraction == FULL for o in question.options):
        yield "has no answer worth 100 %."


def _text_problems(question: QuestionDraft, word: str) -> Iterator[str]:
    shown = [plain_text(o.text, _option_format(question)) for o in question.options]
    if not all(shown):
        yield f"has an empty {word}."
    yield from _repeats([text for text in shown if text], word)


def _option_format(question: QuestionDraft) -> TextFormat:
    return "plain" if question.kind == "short_text" else question.text_format


def _repeats(texts: list[str], word: str) -> Iterator[str]:
    for text, times in Counter(texts).items():
        if times > 1:
            yield f"lists the {word} “{text}” {times} times."


_RULES: dict[str, Callable[[QuestionDraft], Iterator[str]]] = {
    "single_choice": _single_choice,
    "multiple_choice": _multiple_choice,
    "true_false": _true_false,
    "numeric": _numeric,
    "short_text": _short_text,
    "matching": _matching,
    "essay": _essay,
    "upload": _upload,
}
