"""What a teacher has to mark: the exams with how much waits in each, and one question's answers to read.

The one thing to know: what is marked by hand stands in the results (states `needs_marking` and `marked`), so an answer is here as soon as
the worker has graded the rest of its paper, and a blank one, which waits for nobody, is only counted.
"""

import dataclasses
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import F, Func, IntegerField, Sum

from exams.attachments.queries import Named, list_named
from exams.canonical import read_answers
from exams.errors import NotFound
from exams.grading import HandMark, read_hand_marks
from exams.models import AttachmentVersion, Exam, ExamRevision, QuestionKind, Result, Submission
from exams.policies import exams_marked_by, results_markable_by
from gradebook.models import User

ANSWERS_A_PAGE = 25

_BY_HAND = {QuestionKind.ESSAY, QuestionKind.UPLOAD}
_WAITS, _MARKED, _BLANK = "needs_marking", "marked", "blank"


class _CountInBreakdown(Func):
    """How many questions of a result are in one state."""

    arity = 1
    output_field = IntegerField()


class _CountWaiting(_CountInBreakdown):
    template = """jsonb_array_length(jsonb_path_query_array(%(expressions)s, '$.questions.* ? (@.state == "needs_marking")'))"""


class _CountMarked(_CountInBreakdown):
    template = """jsonb_array_length(jsonb_path_query_array(%(expressions)s, '$.questions.* ? (@.state == "marked")'))"""


@dataclasses.dataclass(frozen=True, slots=True)
class ExamToMark:
    """One exam with the numbers of this teacher's answers that wait and that have points."""

    exam: Exam
    waiting: int
    marked: int


@dataclasses.dataclass(frozen=True, slots=True)
class QuestionToMark:
    """One question for a person to mark, with its place in the paper of one revision."""

    id: str
    number: int
    revision: int
    text: str
    is_html: bool
    asks_for_file: bool
    max_points: Decimal
    waiting: int
    marked: int
    blank: int


@dataclasses.dataclass(frozen=True, slots=True)
class AnswerToMark:
    """One answer. `version` is the result's, which a change has to be based on; `marked_by` gave the points, or took them back.

    `file` is the one that `text` names, where the question asks for one and it has arrived.
    """

    submission_id: UUID
    student: User
    attempt_number: int
    text: str
    max_points: Decimal
    points: Decimal | None
    version: int
    marked_by: str = ""
    marked_at: datetime | None = None
    file: AttachmentVersion | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Desk:
    """An exam's questions to mark, and a page of the answers to one of them: those that wait first, then by name."""

    exam: Exam
    questions: Sequence[QuestionToMark]
    question: QuestionToMark | None = None
    answers: Sequence[AnswerToMark] = ()
    page: int = 1
    pages: int = 1


def list_exams_to_mark(*, by: User) -> list[ExamToMark]:
    """Return the exams in which this teacher marks answers by hand: those with waiting ones first, then the newest. Two reads."""
    counts = (
        results_markable_by(by)
        .values("exam_id")
        .annotate(waiting=Sum(_CountWaiting(F("breakdown"))), marked=Sum(_CountMarked(F("breakdown"))))
    )
    found = {row["exam_id"]: row for row in counts if row["waiting"] or row["marked"]}
    exams = Exam.objects.filter(pk__in=found).select_related("course", "period").order_by("-closes_at", "id")
    listed = [ExamToMark(exam, found[exam.pk]["waiting"], found[exam.pk]["marked"]) for exam in exams]
    return sorted(listed, key=lambda each: not each.waiting)


def get_desk(
    *,
    exam_id: UUID,
    by: User,
    question_id: str | None = None,
    page: int = 1,
    only: Collection[UUID] | None = None,
) -> Desk:
    """Return one exam to mark, opened at a question: at the first with something waiting unless one is named.

    `only` narrows the answers to these submissions, all on one page. Raises `NotFound` for an exam or a question that is not there
    for this teacher. Five reads, and a sixth where the question asks for a file.
    """
    exam = exams_marked_by(by).select_related("course", "period").filter(pk=exam_id).first()
    if exam is None:
        raise NotFound
    results = _list_results(exam, by)
    questions = _list_questions(results)
    question = _choose(questions, question_id)
    if question is None:
        return Desk(exam, questions)
    here = [each for each in results if _state(each, question.id) in {_WAITS, _MARKED}]
    here = [each for each in here if only is None or each.pk in only]
    here.sort(key=lambda each: _state(each, question.id) != _WAITS)
    pages = 1 if only is not None else max(1, -(-len(here) // ANSWERS_A_PAGE))
    page = min(page, pages)
    shown = here if only is not None else here[(page - 1) * ANSWERS_A_PAGE : page * ANSWERS_A_PAGE]
    return Desk(exam, questions, question, _list_answers(shown, question), page, pages)


def _list_results(exam: Exam, by: User) -> list[Result]:
    """Return the exam's results that this teacher marks, by the students' names, without what was answered."""
    student = "submission__attempt__student"
    return list(
        results_markable_by(by)
        .filter(exam_id=exam.pk, score__isnull=False)
        .select_related(student)
        .defer("submission__answers")
        .order_by(
            f"{student}__last_name",
            f"{student}__first_name",
            f"{student}__username",
            "submission__attempt__number",
        )
    )


def _list_questions(results: Sequence[Result]) -> list[QuestionToMark]:
    used = {result.submission.revision_id for result in results}
    revisions = ExamRevision.objects.filter(pk__in=used).only("number", "paper").order_by("number")
    return [
        _question(entry, place, revision.number, results)
        for revision in revisions
        for place, entry in enumerate(revision.paper or [], start=1)
        if entry["kind"] in _BY_HAND
    ]


def _question(
    entry: Mapping[str, Any], place: int, revision: int, results: Iterable[Result]
) -> QuestionToMark:
    states = [_state(result, entry["id"]) for result in results]
    return QuestionToMark(
        id=entry["id"],
        number=place,
        revision=revision,
        text=entry["text"],
        is_html=entry["text_format"] == "html",
        asks_for_file=entry["kind"] == QuestionKind.UPLOAD,
        max_points=Decimal(str(entry["points"])),
        waiting=states.count(_WAITS),
        marked=states.count(_MARKED),
        blank=states.count(_BLANK),
    )


def _choose(questions: Sequence[QuestionToMark], question_id: str | None) -> QuestionToMark | None:
    if question_id is None:
        waiting = [question for question in questions if question.waiting]
        return next(iter([*waiting, *questions]), None)
    named = [question for question in questions if question.id == question_id]
    if not named:
        raise NotFound
    return named[0]


def _state(result: Result, question_id: str) -> str:
    """Return a question's state; empty if the paper this result is of does not have it."""
    state: str = result.breakdown.get("questions", {}).get(question_id, {}).get("state", "")
    return state


def _list_answers(results: Sequence[Result], question: QuestionToMark) -> list[AnswerToMark]:
    texts = dict(
        Submission.objects.filter(pk__in=[result.pk for result in results]).values_list("pk", "answers")
    )
    marks = {result.pk: read_hand_marks(result.breakdown).get(question.id) for result in results}
    markers = User.objects.in_bulk([mark.by for mark in marks.values() if mark])
    names = {str(person.pk): person.full_name for person in markers.values()}
    answers = {result.pk: read_answers(texts[result.pk]).get(question.id) for result in results}
    files = _list_files(results, question, answers)
    return [
        dataclasses.replace(
            _answer(result, question, answers[result.pk], marks[result.pk], names), file=files.get(result.pk)
        )
        for result in results
    ]


def _list_files(
    results: Sequence[Result], question: QuestionToMark, answers: Mapping[UUID, object]
) -> dict[UUID, AttachmentVersion]:
    """Return the files that these answers name, by submission."""
    if not question.asks_for_file:
        return {}
    named = {result.pk: Named(result.attempt_id, question.id, str(answers[result.pk])) for result in results}
    arrived = list_named(list(named.values()))
    return {submission_id: arrived[name] for submission_id, name in named.items() if name in arrived}


def _answer(
    result: Result, question: QuestionToMark, answer: object, mark: HandMark | None, names: Mapping[str, str]
) -> AnswerToMark:
    attempt = result.submission.attempt
    shown = AnswerToMark(
        submission_id=result.pk,
        student=attempt.student,
        attempt_number=attempt.number,
        text=_as_text(answer),
        max_points=question.max_points,
        points=None,
        version=result.version,
    )
    if mark is None:
        return shown
    return dataclasses.replace(
        shown, points=mark.points, marked_by=names.get(mark.by, ""), marked_at=datetime.fromisoformat(mark.at)
    )


def _as_text(answer: object) -> str:
    """Return what was answered to be read by a person: a client may have sent something else than a text."""
    return (
        answer if isinstance(answer, str) else json.dumps(answer, cls=DjangoJSONEncoder, ensure_ascii=False)
    )
