"""Writing a paper: start a revision, fill it, publish it. A published revision never changes; a correction is a new one.

Every command that touches questions locks the revision first, so that nothing slips into a paper while it is being frozen
(a trigger refuses whoever tries without this module).
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import cast

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from uuid_utils.compat import uuid7

from exams.canonical import MAX_MEMBERS
from exams.errors import NotPublishable, RevisionPublished
from exams.events import ExamPublished, revision_subject
from exams.local_time import write_utc
from exams.models import AnswerOption, Exam, ExamRevision, Question
from exams.paper import OptionDraft, QuestionDraft, find_problems, freeze
from exams.paper.drafts import Kind, TextFormat
from exams.paper.freeze import Frozen
from gradebook.models import User
from outbox.log.publish import Actor, NewEvent, publish
from outbox.models.log import ActorType


@transaction.atomic
def start_revision(
    *, exam: Exam, instructions: str = "", questions: Iterable[QuestionDraft] = ()
) -> ExamRevision:
    """Create the exam's next revision, unpublished, with these questions. Locks the exam, so that numbers never collide."""
    Exam.objects.select_for_update().get(pk=exam.pk)
    last = exam.revisions.aggregate(last=Max("number"))["last"] or 0
    revision = ExamRevision.objects.create(exam=exam, number=last + 1, instructions=instructions)
    _insert_questions(revision, questions, first_position=1)
    return revision


@transaction.atomic
def copy_revision(*, revision: ExamRevision) -> ExamRevision:
    """Create the exam's next revision with the same instructions and questions: how a published one is corrected."""
    questions = [_with_new_ids(question) for question in list_drafts(revision)]
    return start_revision(exam=revision.exam, instructions=revision.instructions, questions=questions)


@transaction.atomic
def add_questions(*, revision: ExamRevision, questions: Iterable[QuestionDraft]) -> None:
    """Append questions to an unpublished revision. Locks the revision; raises `RevisionPublished`."""
    lock_unpublished(revision)
    last = revision.questions.aggregate(last=Max("position"))["last"] or 0
    _insert_questions(revision, questions, first_position=last + 1)


@transaction.atomic
def publish_revision(*, revision: ExamRevision, by: User | None) -> ExamRevision:
    """Freeze a revision into paper and key, and say so in the log; `by` is nobody where a command does it.

    Locks the revision, then appends the event. Raises `RevisionPublished`, or `NotPublishable` with every problem.
    """
    locked = lock_unpublished(revision)
    drafts = list_drafts(locked)
    if problems := _problems_of_paper(drafts):
        raise NotPublishable(problems=problems)
    frozen = freeze(drafts)
    locked.paper, locked.key, locked.max_points = frozen.paper, frozen.key, frozen.max_points
    locked.published_at, locked.published_by = timezone.now(), by
    locked.save(update_fields=["paper", "key", "max_points", "published_at", "published_by"])
    publish([_published(locked, frozen, by)])
    return locked


def _published(revision: ExamRevision, frozen: Frozen, by: User | None) -> NewEvent:
    assert revision.published_at is not None
    fact = ExamPublished(
        exam_id=revision.exam_id,
        revision_id=revision.pk,
        revision=revision.number,
        title=revision.exam.title,
        questions=len(frozen.paper),
        max_points=str(frozen.max_points),
        published_at=write_utc(revision.published_at),
        paper_sha256=frozen.paper_digest,
    )
    return NewEvent(
        kind=fact.kind,
        schema_version=fact.version,
        subject=revision_subject(revision.pk),
        subject_version=1,
        actor=Actor(ActorType.PERSON, by.pk) if by else Actor(ActorType.IMPORT),
        tenant_id=revision.exam.school_id,
        payload=fact.payload(),
    )


def _problems_of_paper(drafts: Sequence[QuestionDraft]) -> list[str]:
    if not drafts:
        return ["The revision has no questions."]
    problems = [str(problem) for problem in find_problems(drafts)]
    if len(drafts) > MAX_MEMBERS:
        problems.append(
            f"The revision has {len(drafts):,} questions; a hand-in has room for {MAX_MEMBERS:,} answers."
        )
    return problems


def lock_unpublished(revision: ExamRevision) -> ExamRevision:
    """Return the revision, locked until the transaction ends, or raise `RevisionPublished`."""
    locked = ExamRevision.objects.select_for_update().get(pk=revision.pk)
    if locked.published_at is not None:
        raise RevisionPublished
    return locked


def list_drafts(revision: ExamRevision) -> list[QuestionDraft]:
    """Return the revision's questions as they are authored now, in paper order; two reads."""
    return [_as_draft(question) for question in revision.questions.prefetch_related("options")]


def _as_draft(question: Question) -> QuestionDraft:
    options = tuple(
        OptionDraft(
            id=option.id,
            text=option.text,
            match_text=option.match_text,
            low=option.low,
            high=option.high,
            fraction=option.fraction,
            feedback=option.feedback,
        )
        for option in question.options.all()
    )
    return QuestionDraft(
        id=question.id,
        kind=cast("Kind", question.kind),
        text=question.text,
        options=options,
        title=question.title,
        text_format=cast("TextFormat", question.text_format),
        points=question.points,
        is_case_sensitive=question.is_case_sensitive,
        feedback=question.feedback,
    )


def _with_new_ids(question: QuestionDraft) -> QuestionDraft:
    options = tuple(dataclasses.replace(option, id=uuid7()) for option in question.options)
    return dataclasses.replace(question, id=uuid7(), options=options)


def _insert_questions(
    revision: ExamRevision, questions: Iterable[QuestionDraft], *, first_position: int
) -> None:
    """Insert drafts as rows: two statements, however many questions there are."""
    drafts: Sequence[QuestionDraft] = list(questions)
    Question.objects.bulk_create(
        Question(
            id=draft.id,
            revision=revision,
            position=position,
            title=draft.title,
            kind=draft.kind,
            text=draft.text,
            text_format=draft.text_format,
            points=draft.points,
            is_case_sensitive=draft.is_case_sensitive,
            feedback=draft.feedback,
        )
        for position, draft in enumerate(drafts, start=first_position)
    )
    AnswerOption.objects.bulk_create(
        AnswerOption(question_id=draft.id, position=position, **_columns(option))
        for draft in drafts
        for position, option in enumerate(draft.options, start=1)
    )


def _columns(option: OptionDraft) -> dict[str, object]:
    return {field.name: getattr(option, field.name) for field in dataclasses.fields(option)}


@transaction.atomic
def place_question(*, question: Question, place: int) -> None:
    """Put a question into this place of its revision, from 1; the others move up or down. Locks the revision."""
    lock_unpublished(question.revision)
    others = list(question.revision.questions.exclude(pk=question.pk))
    others.insert(max(place, 1) - 1, question)
    for position, each in enumerate(others, start=1):
        each.position = position
    Question.objects.bulk_update(others, ["position"])


@transaction.atomic
def set_truth(*, question: Question, truth: bool) -> None:
    """Give a true/false question its two choices, with this one right. What is said to either stays. Locks the revision."""
    lock_unpublished(question.revision)
    said = dict(question.options.values_list("text", "feedback"))
    question.options.all().delete()
    AnswerOption.objects.bulk_create(
        AnswerOption(
            question=question,
            position=position,
            text=text,
            fraction=100 * (is_true == truth),
            feedback=said.get(text, ""),
        )
        for position, (text, is_true) in enumerate((("true", True), ("false", False)), start=1)
    )
