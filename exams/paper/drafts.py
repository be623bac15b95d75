"""A question while it is being written, wherever it comes from: table rows, an imported file, a form."""

import dataclasses
from decimal import Decimal
from typing import Literal
from uuid import UUID

TextFormat = Literal["plain", "html", "markdown"]
Kind = Literal[
    "single_choice", "multiple_choice", "true_false", "numeric", "short_text", "matching", "essay", "upload"
]


@dataclasses.dataclass(frozen=True, slots=True)
class OptionDraft:
    """One possible answer; see `exams.models.AnswerOption` for what each kind of question reads."""

    id: UUID
    text: str = ""
    match_text: str = ""
    low: Decimal | None = None
    high: Decimal | None = None
    fraction: Decimal = Decimal(0)
    feedback: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class QuestionDraft:
    """One question with its options, in the order they were written."""

    id: UUID
    kind: Kind
    text: str
    options: tuple[OptionDraft, ...] = ()
    title: str = ""
    text_format: TextFormat = "plain"
    points: Decimal = Decimal(1)
    is_case_sensitive: bool = False
    feedback: str = ""  # to everybody, whatever they answered
