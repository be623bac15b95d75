"""Whether an exam is over for everybody: until then, whoever reads its answers could tell them to somebody who sits it.

The one thing to know: its close is not its end. A factor or minutes run past it, and days or minutes that were granted let a student
begin after it.
"""

from collections import Counter
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, Q

from exams.models import Attempt, AttemptState, Exam, ExamTarget, Extension
from exams.policies import enrolments_today
from exams.queries.times import Times


def is_sat(exam_id: UUID) -> Exists:
    """Return whether anybody sits this exam, for a query of something else. One probe of the index of open attempts."""
    return Exists(Attempt.objects.filter(exam=exam_id, state=AttemptState.OPEN))


def has_extensions(exam_id: UUID) -> Exists:
    """Return whether anybody was granted more time for this exam, for a query of something else."""
    return Exists(Extension.objects.filter(exam=exam_id))


def may_anybody_begin(exam: Exam, *, at: datetime) -> bool:
    """Return whether somebody may begin this exam past its close, by the time they were granted. At most five reads.

    `exam` must have its school at hand. What all were granted holds whether or not somebody is left who has an attempt.
    """
    students = _list_extended(exam)
    times = Times([exam], students)
    if at <= times.of_anybody(exam.pk).last_start:
        return True
    attempts = Attempt.objects.filter(exam=exam, student__in=students).values_list("student", flat=True)
    begun = Counter(attempts)
    return any(
        begun[student] < exam.attempts_allowed and at <= times.of(exam.pk, student).last_start
        for student in students
    )


def _list_extended(exam: Exam) -> set[UUID]:
    """Return the students who may sit this exam today, and were granted time by name or with a class they are in."""
    extensions = Extension.objects.filter(exam=exam)
    with_class = enrolments_today().filter(school_class__in=extensions.values("school_class"))
    granted = Q(student__in=extensions.values("student")) | Q(student__in=with_class.values("student"))
    given = ExamTarget.objects.filter(exam=exam).values("school_class")
    here = enrolments_today().filter(granted, school_class__in=given)
    return set(here.values_list("student", flat=True))
