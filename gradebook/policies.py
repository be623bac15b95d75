"""Who may do what with mark sheets: the rule is written once, as the set of sheets it opens.

The one thing to know: a teacher's sheets are those of the (class, course, period) they are assigned to, inside their school.
Administrators read (their school's; all schools if they belong to none) and arrange columns, but never write marks: a mark always
has a teacher behind it.
"""

from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from gradebook.models import MarkSheet, Role, TeachingAssignment, User


def sheets_editable_by(user: User) -> QuerySet[MarkSheet]:
    """Return the sheets whose marks `user` may change."""
    if not (user.is_active and user.role == Role.TEACHER):
        return MarkSheet.objects.none()
    assignment = TeachingAssignment.objects.filter(
        teacher=user,
        school_class=OuterRef("school_class"),
        course=OuterRef("course"),
        period=OuterRef("period"),
    )
    return MarkSheet.objects.filter(Exists(assignment), school=user.school_id)


def sheets_viewable_by(user: User) -> QuerySet[MarkSheet]:
    """Return the sheets `user` may read, history included."""
    if user.is_active and user.role == Role.ADMIN:
        sheets = MarkSheet.objects.all()
        return sheets if user.school_id is None else sheets.filter(school=user.school_id)
    return sheets_editable_by(user)


def may_edit_sheet(user: User, sheet_id: UUID) -> bool:
    """Whether `user` may change marks in this sheet."""
    return sheets_editable_by(user).filter(pk=sheet_id).exists()


def may_view_sheet(user: User, sheet_id: UUID) -> bool:
    """Whether `user` may read this sheet; False, too, where there is no such sheet."""
    return sheets_viewable_by(user).filter(pk=sheet_id).exists()


def may_arrange_sheet(user: User, sheet_id: UUID) -> bool:
    """Whether `user` may add and edit columns: the sheet's teachers, and the administrators who may read it."""
    return may_view_sheet(user, sheet_id)
