"""A school that does not exist: its classes, its mark sheets, one exam that ends when the window does, and everybody sitting it.

Everything is named "Rehearsal", the school is marked as one, accounts have no password, and tokens never leave the command. What becomes of
it afterwards is in `config.rehearsal.keeping`.
"""

import dataclasses
import datetime as dt
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from importlib import resources

from django.db import transaction

from config.demo.answers import answer_paper
from config.rehearsal.arrivals import draw_arrivals
from config.rehearsal.behaviour import Student, draw_manner
from exams import tokens
from exams.deadlines import PersonalDeadline
from exams.events import AttemptStarted
from exams.gift import read_gift
from exams.local_time import write_utc
from exams.models import Attempt, Exam, ExamRevision, ExamTarget
from exams.queries.times import Times
from exams.services.authoring import publish_revision, start_revision
from exams.services.facts import describe, event_of
from gradebook.models import Course, Enrolment, Period, Role, School, SchoolClass, User
from gradebook.services.columns import add_column
from gradebook.services.sheets import assign_teacher
from outbox.db import database_now
from outbox.log.publish import Actor, publish
from outbox.models.log import ActorType

CLASS_SIZE = 100
BATCH = 2_000
SKILL = 0.7
GRACE = dt.timedelta(
    minutes=30
)  # who is shed at the deadline comes back after it, and must not be refused for that


@dataclasses.dataclass(frozen=True, slots=True)
class RehearsalSchool:
    """What was made: the exam, its published paper, and who sits it."""

    exam: Exam
    revision: ExamRevision
    students: list[User]


def find_real_exams() -> list[str]:
    """Return the names of the exams somebody may be sitting now, with their schools'; rehearsals are none."""
    now = database_now()
    open_now = Exam.objects.filter(
        opens_at__lte=now, closes_at__gt=now, revisions__published_at__isnull=False
    )
    others = open_now.filter(school__is_rehearsal=False).select_related("school").distinct()
    return [f"{exam.title} ({exam.school.name})" for exam in others]


@transaction.atomic
def make_school(*, students: int) -> RehearsalSchool:
    """Make the school with everything but the attempts."""
    now = database_now()
    name = f"Rehearsal {now:%Y-%m-%d %H:%M:%S.%f}"
    school = School.objects.create(name=name, is_rehearsal=True)
    days = dt.timedelta(days=1)
    period = Period.objects.create(
        school=school, name=name, starts_on=now.date() - days, ends_on=now.date() + days
    )
    course = Course.objects.create(school=school, code="REHEARSAL", title=name)
    teacher = User.objects.create(**_person(school, Role.TEACHER, now, 0))
    exam, revision = _make_exam(school, course, period, teacher, now)
    pupils = [User(**_person(school, Role.STUDENT, now, number)) for number in range(1, students + 1)]
    User.objects.bulk_create(pupils, batch_size=BATCH)
    for number, begin in enumerate(range(0, students, CLASS_SIZE), start=1):
        group = SchoolClass.objects.create(school=school, name=f"Rehearsal {number}")
        _seat(group, pupils[begin : begin + CLASS_SIZE], exam, revision, teacher)
    return RehearsalSchool(exam, revision, pupils)


@transaction.atomic
def begin_exam(school: RehearsalSchool, *, closes_at: dt.datetime) -> list[Attempt]:
    """Let the exam end then, and begin everybody's attempt, as `exams.services.attempts` does for one."""
    school.exam.closes_at = closes_at
    school.exam.save(update_fields=["closes_at"])
    now = database_now()
    times = Times([school.exam], [student.pk for student in school.students[:1]])
    deadline = times.of(school.exam.pk, school.students[0].pk).deadline(started_at=now)
    attempts = [_attempt(school, student, deadline, now) for student in school.students]
    Attempt.objects.bulk_create(attempts, batch_size=BATCH)
    for batch in _batches(attempts):
        publish(
            event_of(
                attempt, _started(attempt, school), by=Actor(ActorType.PERSON, attempt.student_id), version=1
            )
            for attempt in batch
        )
    return attempts


def write_students(
    school: RehearsalSchool, attempts: Sequence[Attempt], *, window: float, dice: random.Random
) -> list[Student]:
    """Return everybody with their token, their answers, their moment and their manner, in order of arrival."""
    now = database_now()
    moments = draw_arrivals(len(attempts), window, dice)
    crowd = list(zip(attempts, school.students, strict=True))
    dice.shuffle(crowd)
    return [
        Student(
            attempt_id=str(attempt.pk),
            token=tokens.issue(student, now=now).access,
            body=_write_answers(school.revision, dice),
            due_at=moment,
            manner=draw_manner(dice),
        )
        for (attempt, student), moment in zip(crowd, moments, strict=True)
    ]


def _person(school: School, role: Role, now: dt.datetime, number: int) -> dict[str, object]:
    return {
        "school": school,
        "role": role,
        "username": f"rehearsal-{now:%Y%m%d%H%M%S%f}-{number}",
        "password": "!",  # fits no password
        "first_name": "Rehearsal",
        "last_name": f"{role.label} {number}",
    }


def _make_exam(
    school: School, course: Course, period: Period, teacher: User, now: dt.datetime
) -> tuple[Exam, ExamRevision]:
    exam = Exam.objects.create(
        school=school,
        course=course,
        period=period,
        title=school.name,
        opens_at=now - dt.timedelta(hours=1),
        closes_at=now + dt.timedelta(hours=1),
        grace_seconds=int(GRACE.total_seconds()),
    )
    paper = resources.files("config.demo").joinpath("papers", "mathematics.gift").read_bytes()
    revision = start_revision(exam=exam, instructions="A rehearsal.", questions=read_gift(paper).questions)
    return exam, publish_revision(revision=revision, by=teacher)


def _seat(group: SchoolClass, pupils: list[User], exam: Exam, revision: ExamRevision, teacher: User) -> None:
    """Put the pupils into the class, and link its mark sheet to the exam."""
    Enrolment.objects.bulk_create(
        Enrolment(student=pupil, school_class=group, starts_on=exam.period.starts_on) for pupil in pupils
    )
    assign_teacher(teacher=teacher, school_class=group, course=exam.course, period=exam.period)
    assert revision.max_points is not None  # it is published
    column = add_column(
        sheet=group.marksheet_set.get(),
        title=exam.title,
        max_points=revision.max_points,
        by=teacher,
        source_id=exam.pk,
    )
    ExamTarget.objects.create(exam=exam, school_class=group, column=column)


def _attempt(school: RehearsalSchool, student: User, deadline: PersonalDeadline, now: dt.datetime) -> Attempt:
    return Attempt(
        school_id=school.exam.school_id,
        exam=school.exam,
        revision=school.revision,
        student=student,
        number=1,
        started_at=now,
        closes_at=deadline.closes_at,
        grace_until=deadline.grace_until,
        accepts_until=deadline.accepts_until,
        deadline_rule=deadline.rule,
    )


def _started(attempt: Attempt, school: RehearsalSchool) -> AttemptStarted:
    return AttemptStarted(
        **describe(attempt),
        revision=school.revision.number,
        closes_at=write_utc(attempt.closes_at),
        rule=attempt.deadline_rule,
    )


def _write_answers(revision: ExamRevision, dice: random.Random) -> bytes:
    answers = answer_paper(paper=revision.paper or [], key=revision.key or {}, skill=SKILL, dice=dice)
    return json.dumps({"answers": answers}).encode()


def _batches(attempts: Sequence[Attempt]) -> Iterator[Sequence[Attempt]]:
    iterator = iter(attempts)
    while batch := list(itertools.islice(iterator, BATCH)):
        yield batch
