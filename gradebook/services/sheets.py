"""Mark sheets come into being: there is one as soon as somebody is assigned to teach a class in a course and period."""

from django.db import transaction

from gradebook.errors import AssignmentRefused
from gradebook.models import Course, MarkSheet, Period, Role, SchoolClass, TeachingAssignment, User


def assign_teacher(
    *, teacher: User, school_class: SchoolClass, course: Course, period: Period
) -> TeachingAssignment:
    """Let a teacher enter marks for a class in a course and period, and open their mark sheet. Twice is the same as once.

    Raises `AssignmentRefused` when not everything belongs to one school, or the person is no teacher.
    """
    check_assignment(teacher=teacher, school_class=school_class, course=course, period=period)
    with transaction.atomic():
        assignment, _ = TeachingAssignment.objects.get_or_create(
            teacher=teacher, school_class=school_class, course=course, period=period
        )
        open_sheet(assignment=assignment)
    return assignment


def check_assignment(*, teacher: User, school_class: SchoolClass, course: Course, period: Period) -> None:
    """Raise `AssignmentRefused` unless a teacher, the class, the course and the period are of one school."""
    if teacher.role != Role.TEACHER:
        raise AssignmentRefused(f"{teacher.full_name} is not a teacher.")
    schools = {teacher.school_id, school_class.school_id, course.school_id, period.school_id}
    if len(schools) != 1:
        raise AssignmentRefused


def open_sheet(*, assignment: TeachingAssignment) -> MarkSheet:
    """Return the mark sheet of an assignment; it is made by the first that needs it, also when two come at once."""
    sheet, _ = MarkSheet.objects.get_or_create(
        school_id=assignment.school_class.school_id,
        period=assignment.period,
        course=assignment.course,
        school_class=assignment.school_class,
    )
    return sheet
