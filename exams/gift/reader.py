"""From the bytes of a file to drafts of questions, with every fault in the file named at once."""

import dataclasses
import hashlib
import textwrap
from decimal import Decimal
from typing import Final

from uuid_utils.compat import uuid7

from exams.canonical import MAX_MEMBERS
from exams.errors import ExamsError
from exams.gift.answers import Answer, AnswerBlock, read_answers
from exams.gift.blocks import Block, Item, Unreadable, count_categories, list_blocks, split_title, take_apart
from exams.gift.escapes import has_stand_in, show
from exams.gift.texts import Part, settle_format
from exams.paper import OptionDraft, QuestionDraft, find_problems, find_warnings
from exams.paper.problems import FULL, name_of
from exams.paper.text import has_media, plain_text

LARGEST_FILE: Final = 5 * 1024 * 1024
MOST_QUESTIONS: Final = MAX_MEMBERS  # as many as there may be answers in a hand-in
GAP: Final = "_____"

_CHOICES: Final = ("single_choice", "multiple_choice")
_A_HABIT: Final = 3  # from so many questions on, "the right one comes first" is no accident


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """Something that keeps the file from being imported."""

    line: int
    title: str
    message: str

    def __str__(self) -> str:
        return f"Line {self.line}{f', “{self.title}”' if self.title else ''}: {self.message}"


class GiftRefused(ExamsError):
    """The file was not imported; `faults` says why, line by line."""

    code = "gift_refused"
    status = 400

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults
        super().__init__(faults=[str(fault) for fault in faults])


@dataclasses.dataclass(frozen=True, slots=True)
class GiftPaper:
    """A file that can be imported. `notes` say what a person should know before publishing it."""

    questions: list[QuestionDraft]
    instructions: str
    notes: list[str]

    @property
    def points(self) -> Decimal:
        """What all questions are worth together."""
        return sum((question.points for question in self.questions), Decimal(0))

    def shuffled(self) -> "GiftPaper":
        """Return the paper with the choices of every choice question in another order, for files that put the right one first."""
        questions = [_shuffled(q) if q.kind in _CHOICES else q for q in self.questions]
        return dataclasses.replace(self, questions=questions)


def read_gift(data: bytes) -> GiftPaper:
    """Return the paper in a GIFT file. Raises `GiftRefused` with all faults; then nothing of the file is to be used."""
    text = _decode(data)
    reading = _Reading()
    for block in list_blocks(text):
        reading.read(block)
    reading.judge()
    if reading.faults:
        raise GiftRefused(sorted(reading.faults, key=lambda fault: fault.line))
    if categories := count_categories(text):
        reading.notes.append(f"Categories are not kept ({categories} named in the file).")
    return GiftPaper(reading.questions, "\n\n".join(reading.instructions), reading.notes)


class _Reading:
    """What has been gathered from the file so far."""

    def __init__(self) -> None:
        self.questions: list[QuestionDraft] = []
        self.lines: list[int] = []
        self.instructions: list[str] = []
        self.notes: list[str] = []
        self.faults: list[Fault] = []

    def read(self, block: Block) -> None:
        """Take over one item, or what is wrong with it."""
        title = ""
        try:
            title, text = split_title(block.text)
            item = take_apart(show(title), text)
            if item.answers is None:
                self._take_description(block, item)
            else:
                self._take_question(block, item, read_answers(item.answers))
        except Unreadable as reason:
            self.faults.append(Fault(block.line, show(title) or _beginning(block.text), str(reason)))

    def _take_description(self, block: Block, item: Item) -> None:
        if self.questions or self.faults:
            raise Unreadable(
                "this has no braces, so it is a description; a paper has only questions. Put it above the first question, where"
                " it becomes the instructions, or into a question's text (a blank line ends a question)."
            )
        text_format, (text,) = settle_format(Part(show(item.before), item.text_format), [])
        if has_media(text, text_format):
            raise Unreadable("shows a picture, sound or frame, which a paper cannot carry yet.")
        self.instructions.append(plain_text(text, text_format))
        name = item.title or _beginning(block.text)
        self.notes.append(f"Line {block.line}, “{name}”: has no answers, so it became the instructions.")

    def _take_question(self, block: Block, item: Item, answers: AnswerBlock) -> None:
        question = _draft(item, answers)
        self.questions.append(question)
        self.lines.append(block.line)
        if answers.unsaid:
            self.notes.append(f"Line {block.line}, “{name_of(question)}”: {answers.unsaid}")

    def judge(self) -> None:
        """Hold the questions to the rules of a paper."""
        if not self.questions and not self.faults:
            self.faults.append(Fault(1, "", "there is no question in this file."))
        if len(self.questions) > MOST_QUESTIONS:
            self.faults.append(
                Fault(self.lines[-1], "", f"there are more than {MOST_QUESTIONS:,} questions.")
            )
        for problem in find_problems(self.questions):
            self.faults.append(Fault(self.lines[problem.number - 1], problem.name, problem.message))
        for warning in find_warnings(self.questions):
            self.notes.append(f"Line {self.lines[warning.number - 1]}, “{warning.name}”: {warning.message}")
        if _is_right_always_first(self.questions):
            self.notes.append(
                "In every single-choice question the right choice comes first: consider shuffling them."
            )


def _decode(data: bytes) -> str:
    if len(data) > LARGEST_FILE:
        raise GiftRefused([Fault(1, "", f"the file is larger than {LARGEST_FILE // 1024 // 1024} MiB.")])
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise GiftRefused([Fault(line, "", "the file is not UTF-8; save it in that encoding.")]) from None
    faults = [
        Fault(number, "", "there is a character that no text may contain.")
        for number, line in enumerate(text.split("\n"), start=1)
        if "\0" in line or has_stand_in(line)
    ]
    if faults:
        raise GiftRefused(faults)
    return text


def _draft(item: Item, block: AnswerBlock) -> QuestionDraft:
    text = show(f"{item.before}{GAP}{item.after}" if item.after.strip() else item.before)
    parts = [part for answer in block.answers for part in _parts(answer)]
    said = [block.feedback, *(answer.feedback for answer in block.answers)]
    is_typed = block.kind == "short_text"  # then answers are compared with what a student types, not shown
    text_format, texts = settle_format(Part(text, item.text_format), said if is_typed else [*said, *parts])
    general, to_answers = texts[1], texts[2 : 1 + len(said)]
    answer_texts = [_typed(part) for part in parts] if is_typed else texts[1 + len(said) :]
    shown = zip(block.answers, answer_texts[::2], answer_texts[1::2], to_answers, strict=True)
    return QuestionDraft(
        id=uuid7(),
        kind=block.kind,
        title=item.title[:200],
        text=texts[0],
        text_format=text_format,
        options=tuple(_option(*each) for each in shown),
        feedback=general,
    )


def _parts(answer: Answer) -> tuple[Part, Part]:
    return Part(answer.text, answer.text_format), Part(answer.match_text, answer.text_format)


def _typed(part: Part) -> str:
    return plain_text(part.text, "html" if part.text_format == "html" else "plain")


def _option(answer: Answer, text: str, match_text: str, feedback: str) -> OptionDraft:
    return OptionDraft(
        id=uuid7(),
        text=text,
        match_text=match_text,
        low=answer.low,
        high=answer.high,
        fraction=answer.weight,
        feedback=feedback,
    )


def _shuffled(question: QuestionDraft) -> QuestionDraft:
    options = sorted(question.options, key=lambda option: hashlib.sha256(option.id.bytes).digest())
    return dataclasses.replace(question, options=tuple(options))


def _is_right_always_first(questions: list[QuestionDraft]) -> bool:
    choices = [question for question in questions if question.kind == "single_choice"]
    return len(choices) >= _A_HABIT and all(question.options[0].fraction == FULL for question in choices)


def _beginning(text: str) -> str:
    return textwrap.shorten(show(text), 60, placeholder="...")
