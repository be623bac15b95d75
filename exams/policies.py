"""Who may sit what: the rule is written once, as the set of exams it opens.

A student may sit an exam that is given to a class of the same school in which they are enrolled today (by the school's
calendar) and that has a published paper. What they have begun stays theirs to read, whatever class they are in later.
"""

from uuid import UUID

from django.db.models import DateField, Exists, F, Func, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from exams.models import Attempt, Exam, ExamRevision, ExamTarget
from gradebook.models import Enrolment


class LocalDay(Func):
    """The calendar day of a moment in a time zone given by its name: what "today" is depends on the school."""

    template = "(%(expressions)s)::date"
    arg_joiner = " AT TIME ZONE "
    arity = 2
    output_field = DateField()


def enrolments_today() -> QuerySet[Enrolment]:
    """Return the enrolments that hold today, each by the calendar of its own school."""
    today = Enrolment.objects.alias(today=LocalDay(Now(), F("school_class__school__time_zone")))
    return today.filter(Q(ends_on__isnull=True) | Q(ends_on__gte=F("today")), starts_on__lte=F("today"))


def exams_open_to(student_id: UUID) -> QuerySet[Exam]:
    """Return the exams this student may sit: in the past, now or later."""
    classes = enrolments_today().filter(student=student_id).values("school_class")
    paper = ExamRevision.objects.filter(exam=OuterRef("pk"), published_at__isnull=False)
    given = ExamTarget.objects.filter(
        exam=OuterRef("pk"), school_class__in=classes, school_class__school=OuterRef("school")
    )
    return Exam.objects.filter(Exists(given), Exists(paper))


def attempts_of(student_id: UUID) -> QuerySet[Attempt]:
    """Return the attempts this student may see: their own."""
    return Attempt.objects.filter(student=student_id)
