"""The demo's exams: one that is just ending with its submissions, one open now, one still to come.

Nothing is written past the product: attempts are started, drafts saved and answers handed in by the functions that
serve students, so the receipts are real and the worker has real work when it starts.
"""

import dataclasses
import datetime as dt
import random
from collections.abc import Iterator, Sequence
from decimal import Decimal
from importlib import resources
from typing import Any

from config.demo.answers import answer_paper
from config.demo.structure import DemoClass, DemoSchool
from exams.canonical import canonical_answers, digest
from exams.gate.durability import get_durability
from exams.gate.handin import HandIn, Outcome
from exams.gate.session import Session
from exams.gift import read_gift
from exams.models import Exam, ExamRevision, ExamTarget, ExtensionKind
from exams.paper import QuestionDraft
from exams.receipt_keys import get_key_ring
from exams.services.attempts import start_attempt
from exams.services.authoring import publish_revision, start_revision
from exams.services.deadlines import grant_extension, set_accommodation
from exams.services.drafts import save_draft
from gradebook.models import User
from gradebook.services.columns import add_column

GROUP = 200
CHANCE_TO_MISS_THE_EXAM = 0.06
JUST_ENDING = dt.timedelta(
    minutes=2
)  # the past exam takes its submissions now and closes when the demo is up


@dataclasses.dataclass(frozen=True, slots=True)
class DemoExams:
    """A school's exams that students have work in: the one that is ending, and the one that is open."""

    ending: Exam
    open: Exam


def create_exams(*, school: DemoSchool, now: dt.datetime) -> DemoExams:
    """Create the school's three exams, with an accommodation and an extension for the open one.

    The open one is the first teacher's, and a machine grades all of it: what student1 hands in is in teacher1's sheet a moment
    later. The one that ends has an essay in it, so that there is something to mark by hand too.
    """
    ending = _create_exam(
        school,
        course="SCI9",
        title="Science final",
        paper="science",
        opens_at=now - dt.timedelta(hours=2),
        closes_at=now + JUST_ENDING,
        scores_released_at=now,
    )
    opened = _create_exam(
        school,
        course="MAT9",
        title="Mathematics midterm",
        paper="mathematics",
        opens_at=now - dt.timedelta(hours=1),
        closes_at=now + dt.timedelta(hours=8),
        scores_released_at=now,
        time_limit=dt.timedelta(minutes=45),
        grace_seconds=30,
        attempts_allowed=2,
    )
    _create_exam(
        school,
        course="MAT9",
        title="Mathematics final",
        paper="mathematics",
        opens_at=now + dt.timedelta(hours=48),
        closes_at=now + dt.timedelta(hours=51),
        time_limit=dt.timedelta(minutes=60),
    )
    _give_time(school, opened)
    return DemoExams(ending, opened)


def sit_exams(*, school: DemoSchool, exams: DemoExams, dice: random.Random) -> int:
    """Let the students do what they have done so far; return how many submissions. Needs the exams committed."""
    return _sit(exams.ending, school, dice) + _begin(exams.open, school, dice)


def _create_exam(school: DemoSchool, *, course: str, title: str, paper: str, **times: Any) -> Exam:
    """Create an exam with a published paper, for every class of the school, linked to a column of each sheet."""
    author = school.classes[0].teachers[course][0]
    exam = Exam.objects.create(
        school=school.school, course=school.courses[course], period=school.period, title=title, **times
    )
    revision = start_revision(
        exam=exam,
        instructions="Answer every question. Your work is saved as you go.",
        questions=_read_paper(paper),
    )
    published = publish_revision(revision=revision, by=author)
    for group in school.classes:
        _target(exam, published, group, course)
    return exam


def _read_paper(name: str) -> Sequence[QuestionDraft]:
    return read_gift(resources.files("config.demo").joinpath("papers", f"{name}.gift").read_bytes()).questions


def _target(exam: Exam, revision: ExamRevision, group: DemoClass, course: str) -> None:
    column = add_column(
        sheet=group.sheets[course],
        title=exam.title,
        max_points=revision.max_points or Decimal(0),
        by=group.teachers[course][0],
        source_id=exam.pk,
    )
    ExamTarget.objects.create(exam=exam, school_class=group.school_class, column=column)


def _give_time(school: DemoSchool, exam: Exam) -> None:
    """One student works with half as much time again; one class lost ten minutes to a fire alarm."""
    teacher = school.classes[0].teachers[exam.course.code][0]
    if len(school.classes[0].students) > 1:
        set_accommodation(
            student_id=school.classes[0].students[1].pk, factor="1.50", note="Dyslexia", by=teacher.pk
        )
    grant_extension(
        exam_id=exam.pk,
        kind=ExtensionKind.MINUTES,
        amount=10,
        reason="Fire alarm during the exam",
        by=teacher.pk,
        school_class_id=school.classes[-1].school_class.pk,
    )


def _sit(exam: Exam, school: DemoSchool, dice: random.Random) -> int:
    """Let nearly everybody sit the exam and hand in; return how many did."""
    revision = exam.revisions.get()
    students = [student for group in school.classes for student in group.students]
    present = [
        student
        for place, student in enumerate(students)
        if place == 0 or dice.random() >= CHANCE_TO_MISS_THE_EXAM
    ]
    handins = [_write(exam, revision, student, dice) for student in present]
    _hand_in(handins)
    return len(handins)


def _begin(exam: Exam, school: DemoSchool, dice: random.Random) -> int:
    """Of the open exam, some have handed in and some are writing; the first student of the school has not begun."""
    revision = exam.revisions.get()
    students = [student for group in school.classes for student in group.students][1:]
    third = len(students) // 3
    _hand_in([_write(exam, revision, student, dice) for student in students[:third]])
    for student in students[third : 2 * third]:
        attempt = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
        answers = answer_paper(paper=revision.paper or [], key=revision.key or {}, skill=0.5, dice=dice)
        save_draft(attempt_id=attempt.pk, student_id=student.pk, answers=answers, token=None)
    return third


def _write(exam: Exam, revision: ExamRevision, student: User, dice: random.Random) -> HandIn:
    attempt = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
    skill = min(1.0, max(0.1, dice.gauss(0.7, 0.2)))
    answers = canonical_answers(
        answer_paper(paper=revision.paper or [], key=revision.key or {}, skill=skill, dice=dice)
    )
    return HandIn(attempt_id=attempt.pk, student_id=student.pk, answers=answers, digest=digest(answers))


def _hand_in(handins: Sequence[HandIn]) -> None:
    """Hand in through the gate's own session, group by group, and insist on every receipt."""
    session = Session(durability=get_durability("local"), key_id=get_key_ring().signing_id)
    session.connect()
    try:
        refused = [
            (handin.attempt_id, verdict.outcome)
            for group in _groups(handins)
            for handin, verdict in zip(group, session.accept(group), strict=True)
            if verdict.outcome is not Outcome.ACCEPTED
        ]
    finally:
        session.close()
    if refused:
        raise RuntimeError(f"The gate did not accept {len(refused)} of the demo's submissions: {refused[0]}")


def _groups(handins: Sequence[HandIn]) -> Iterator[Sequence[HandIn]]:
    for start in range(0, len(handins), GROUP):
        yield handins[start : start + GROUP]
