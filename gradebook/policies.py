"""Who may do what with mark sheets: the rule is written once, as the set of sheets it opens.

The one thing to know: a teacher's sheets are those of the (class, course, period) they are assigned to, inside their school.
Administrators read (their school's; all schools if they belong to none) and arrange columns, but never write marks: a mark always
has a teacher behind it.
"""

from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from gradebook.models import Amendment, MarkSheet, Period, Role, TeachingAssignment, User


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


def find_viewable_name(user: User, sheet_id: UUID) -> str | None:
    """Return what a sheet is called (course, class, term), None where `user` may not read it or there is none. One query."""
    found = sheets_viewable_by(user).select_related("course", "school_class", "period").filter(pk=sheet_id)
    return next(map(str, found), None)


def may_arrange_sheet(user: User, sheet_id: UUID) -> bool:
    """Whether `user` may add and edit columns: the sheet's teachers, and the administrators who may read it."""
    return may_view_sheet(user, sheet_id)


def terms_lockable_by(user: User) -> QuerySet[Period]:
    """Return the terms `user` may lock and open: an administrator's own school's, or all for those who belong to none."""
    if not (user.is_active and user.role == Role.ADMIN):
        return Period.objects.none()
    terms = Period.objects.all()
    return terms if user.school_id is None else terms.filter(school=user.school_id)


def may_decide(user: User, amendment: Amendment) -> bool:
    """Whether `user` may sign or refuse an amendment: a second person who may read the sheet."""
    return amendment.proposed_by_id != user.pk and may_view_sheet(user, amendment.sheet_id)
