"""Who marks an exam: the other direction of `exams.policies`."""

from uuid import UUID

from exams.models import Exam
from gradebook.models import Enrolment, TeachingAssignment


def list_markers(*, exam: Exam, student_id: UUID) -> list[UUID]:
    """Return the active teachers of the classes of this student to which the exam is given. One read."""
    classes = Enrolment.objects.filter(student=student_id).values("school_class")
    assigned = TeachingAssignment.objects.filter(
        course=exam.course_id,
        period=exam.period_id,
        school_class__in=exam.targets.filter(school_class__in=classes).values("school_class"),
        teacher__is_active=True,
    )
    return list(assigned.order_by("teacher").values_list("teacher", flat=True).distinct())
