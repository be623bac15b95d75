"""Questions of every kind, each with a right answer that is known."""

import itertools
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from uuid_utils.compat import uuid7

from exams.paper import OptionDraft, QuestionDraft
from exams.paper.drafts import Kind

ALL_KINDS: tuple[Kind, ...] = (
    "single_choice",
    "multiple_choice",
    "true_false",
    "numeric",
    "short_text",
    "matching",
    "essay",
)


def a_question(kind: Kind, *options: OptionDraft, **fields: object) -> QuestionDraft:
    """A question of this kind worth 1 point; with the usual options of its kind unless some are given."""
    defaults = {"text": f"A {kind.replace('_', ' ')} question?", "options": options or _OPTIONS[kind]()}
    return QuestionDraft(**{"id": uuid7(), "kind": kind} | defaults | fields)  # type: ignore[arg-type]


def questions(count: int = len(ALL_KINDS), kinds: tuple[Kind, ...] = ALL_KINDS) -> list[QuestionDraft]:
    """So many questions, the kinds taking turns."""
    return [a_question(kind) for kind in itertools.islice(itertools.cycle(kinds), count)]


def right_answer(entry: dict[str, Any]) -> Any:
    """Return an answer worth full marks to a question with this entry in the key."""
    match entry:
        case {"kind": "multiple_choice", "fractions": worths}:
            return [choice for choice, worth in worths.items() if float(worth) > 0]
        case {"kind": "true_false", "fractions": worths}:
            return bool(worths["true"] == "100")
        case {"pairs": pairs}:
            return pairs
        case {"fractions": worths}:
            return next(choice for choice, worth in worths.items() if worth == "100")
        case {"ranges": accepted} | {"patterns": accepted}:
            return next(value for value, *_, worth in accepted if worth == "100")
    return "An essay, to be read by a person."


def option(text: str = "", fraction: float | str = 0, **fields: object) -> OptionDraft:
    """One option worth `fraction` percent."""
    return OptionDraft(id=uuid7(), text=text, fraction=Decimal(str(fraction)), **fields)  # type: ignore[arg-type]


def _single_choice() -> tuple[OptionDraft, ...]:
    return option("Wrong"), option("Right", 100), option("Half right", 50)


def _multiple_choice() -> tuple[OptionDraft, ...]:
    thirds = [option(text, "33.33333") for text in ("Africa", "Asia", "Antarctica")]
    return option("China", -100), *thirds, option("Atlantis", -100)


def _true_false() -> tuple[OptionDraft, ...]:
    return option("true", 100), option("false")


def _numeric() -> tuple[OptionDraft, ...]:
    exact = option(fraction=100, low=Decimal("3.13"), high=Decimal("3.15"))
    return exact, option(fraction=50, low=Decimal(3), high=Decimal(4))


def _short_text() -> tuple[OptionDraft, ...]:
    return option("Paris", 100), option("Pari*", 50)


def _matching() -> tuple[OptionDraft, ...]:
    pairs = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid", "": "London"}
    return tuple(option(prompt, match_text=match) for prompt, match in pairs.items())


def _essay() -> tuple[OptionDraft, ...]:
    return ()


_OPTIONS: dict[Kind, Callable[[], tuple[OptionDraft, ...]]] = {
    "single_choice": _single_choice,
    "multiple_choice": _multiple_choice,
    "true_false": _true_false,
    "numeric": _numeric,
    "short_text": _short_text,
    "matching": _matching,
    "essay": _essay,
    "upload": _essay,
}
