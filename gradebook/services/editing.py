"""Who may change the marks of a sheet: asked by every door for teachers, in the same words."""

from gradebook import policies
from gradebook.errors import MarksAreReadOnly, SheetNotFound
from gradebook.models import MarkSheet, User


def require_editor(sheet: MarkSheet, by: User) -> None:
    """Raise `SheetNotFound`, or `MarksAreReadOnly` for who may read the sheet at least."""
    if policies.may_edit_sheet(by, sheet.pk):
        return
    raise MarksAreReadOnly if policies.may_view_sheet(by, sheet.pk) else SheetNotFound
