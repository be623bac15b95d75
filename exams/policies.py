"""Who may sit what, and who may mark it: each rule is written once, as the set of rows it opens.

A student may sit an exam that is given to a class of the same school in which they are enrolled today (by the school's
calendar) and that has a published paper. What they have begun stays theirs to read, whatever class they are in later.

A teacher marks the answers of students who were in a class the exam is given to when they started (the rule of grading and
posting), where the teacher may edit that class's mark sheet in the exam's course and period.
"""

from uuid import UUID

from django.db.models import DateField, Exists, F, Func, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from exams.models import Attempt, Exam, ExamRevision, ExamTarget, Result
from gradebook.models import Enrolment, Role, User
from gradebook.policies import sheets_editable_by


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


def exams_marked_by(teacher: User) -> QuerySet[Exam]:
    """Return the exams of which this teacher may mark some students' answers."""
    return Exam.objects.filter(pk__in=_targets_of(teacher).values("exam"))


def results_markable_by(teacher: User) -> QuerySet[Result]:
    """Return the results, withdrawn ones aside, in which this teacher may give points."""
    sat_here = (
        _targets_of(teacher)
        .alias(day=LocalDay(OuterRef("submission__attempt__started_at"), F("exam__school__time_zone")))
        .filter(
            Q(school_class__enrolments__ends_on__isnull=True)
            | Q(school_class__enrolments__ends_on__gte=F("day")),
            exam=OuterRef("exam_id"),
            school_class__enrolments__student=OuterRef("submission__student_id"),
            school_class__enrolments__starts_on__lte=F("day"),
        )
    )
    mine = Result.objects.filter(exam_id__in=_targets_of(teacher).values("exam"))
    return mine.filter(Exists(sat_here), submission__withdrawn_at__isnull=True)


def list_result_classes(user: User, exam_id: UUID) -> list[UUID]:
    """Return the classes whose results at an exam this person may look at as figures; none where the exam is not theirs to see. One query.

    A teacher's are those they teach in the exam's course and period; an administrator's are all that it is given to.
    """
    if user.is_active and user.role == Role.ADMIN:
        targets = ExamTarget.objects.all()
        targets = targets if user.school_id is None else targets.filter(exam__school=user.school_id)
    else:
        targets = _targets_of(user)
    return list(targets.filter(exam=exam_id).values_list("school_class_id", flat=True))


def _targets_of(teacher: User) -> QuerySet[ExamTarget]:
    """Return the targets whose class, in the exam's course and period, is the teacher's."""
    sheets = sheets_editable_by(teacher).filter(
        school_class=OuterRef("school_class"),
        course=OuterRef("exam__course"),
        period=OuterRef("exam__period"),
    )
    return ExamTarget.objects.filter(Exists(sheets))
