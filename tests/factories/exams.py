"""Exams with their papers, targets, times and attempts."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from exams.models import (
    Accommodation,
    Attempt,
    Exam,
    ExamRevision,
    ExamTarget,
    Extension,
    ExtensionKind,
)
from exams.paper import QuestionDraft
from exams.services.authoring import publish_revision, start_revision
from gradebook.models import Column, SchoolClass, User
from tests.factories import gradebook
from tests.factories.papers import questions as some_questions
from tests.factories.papers import right_answer

HOUR = dt.timedelta(hours=1)


def exam(**fields: Any) -> Exam:
    """An exam that opened an hour ago and closes in an hour, without a paper yet; all of it in one school."""
    now = dt.datetime.now(tz=dt.UTC)
    of = fields.get("school") or _school_among(fields) or gradebook.school()
    defaults = {"title": "Exam", "opens_at": now - HOUR, "closes_at": now + HOUR}
    parents = {"school": of}
    parents["course"] = fields.get("course") or gradebook.course(of)
    parents["period"] = fields.get("period") or gradebook.period(of)
    return Exam.objects.create(**defaults | fields | parents)


def _school_among(fields: dict[str, Any]) -> Any:
    return next((fields[name].school for name in ("course", "period") if name in fields), None)


def draft_revision(
    exam: Exam | None = None, questions: Sequence[QuestionDraft] | None = None
) -> ExamRevision:
    """An unpublished revision, with one question of every kind unless told otherwise."""
    chosen = some_questions() if questions is None else questions
    return start_revision(exam=exam or _exam(), questions=chosen)


def published_revision(
    exam: Exam | None = None, questions: Sequence[QuestionDraft] | None = None, by: User | None = None
) -> ExamRevision:
    """A published revision, with one question of every kind unless told otherwise."""
    revision = draft_revision(exam, questions)
    return publish_revision(revision=revision, by=by or gradebook.teacher(revision.exam.school))


def target(exam: Exam, school_class: SchoolClass | None = None, column: Column | None = None) -> ExamTarget:
    """A class sits the exam; its results go to `column`, if there is one."""
    of = school_class or gradebook.school_class(exam.school)
    return ExamTarget.objects.create(exam=exam, school_class=of, column=column)


def attempt(revision: ExamRevision | None = None, student: User | None = None, **fields: Any) -> Attempt:
    """An open attempt of a published revision, closing with its exam. The student is in a targeted class."""
    revision = revision or published_revision()
    of = revision.exam
    defaults = {
        "school_id": of.school_id,
        "exam": of,
        "revision": revision,
        "student": student or _student_of(of),
        "number": 1,
        "started_at": dt.datetime.now(tz=dt.UTC),
        "deadline_rule": "exam close",
    }
    closes_at = fields.get("closes_at", of.closes_at)
    grace_until = fields.get("grace_until", closes_at + dt.timedelta(seconds=of.grace_seconds))
    accepts_until = fields.get("accepts_until", grace_until + dt.timedelta(seconds=of.late_seconds))
    times = {"closes_at": closes_at, "grace_until": grace_until, "accepts_until": accepts_until}
    return Attempt.objects.create(**defaults | times | fields)


def _student_of(exam: Exam) -> User:
    found = exam.targets.first() or target(exam)
    student = gradebook.student(exam.school)
    gradebook.enrolment(student, found.school_class)
    return student


def accommodation(student: User, factor: str = "1.50") -> Accommodation:
    """The student works `factor` times as long."""
    return Accommodation.objects.create(student=student, extra_time_factor=Decimal(factor))


def extension(exam: Exam, by: User, **fields: Any) -> Extension:
    """Ten more minutes, for everybody unless `student` or `school_class` is named."""
    defaults = {"kind": ExtensionKind.MINUTES, "amount": 10, "reason": "The heating broke down."}
    return Extension.objects.create(**{"exam": exam, "granted_by": by} | defaults | fields)


def right_answers(revision: ExamRevision) -> dict[str, Any]:
    """Return answers worth full marks to every question of a published revision (an essay gets some text)."""
    return {question_id: right_answer(entry) for question_id, entry in (revision.key or {}).items()}


_exam = exam
