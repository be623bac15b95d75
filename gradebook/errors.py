"""What can go wrong in the gradebook. Each has a stable `code`; the docstring is the default message."""

from typing import Any, ClassVar


class GradebookError(Exception):
    """The gradebook refused this."""

    code: ClassVar[str] = "gradebook_error"
    status: ClassVar[int] = 400

    def __init__(self, detail: str | None = None, *, pointer: str | None = None, **extra: Any) -> None:
        self.detail = detail or (type(self).__doc__ or "").strip()
        self.pointer = pointer
        self.extra = extra
        super().__init__(self.detail)


class SheetNotFound(GradebookError):
    """There is no such mark sheet among yours."""

    code = "sheet_not_found"
    status = 404


class InvalidMark(GradebookError):
    """This is not a mark for this column."""

    code = "invalid_mark"
    status = 400


class MarksAreReadOnly(GradebookError):
    """You may read this mark sheet, but not change its marks."""

    code = "marks_are_read_only"
    status = 403


class SomebodyElse(GradebookError):
    """Somebody else has signed in in this browser since the page was opened."""

    code = "somebody_else"
    status = 403


class Malformed(GradebookError):
    """The request is not in the form this address reads."""

    code = "malformed"
    status = 400


class TooLarge(GradebookError):
    """The request is larger than the grid ever sends."""

    code = "too_large"
    status = 413


class ColumnNotFound(GradebookError):
    """There is no such column in this mark sheet."""

    code = "column_not_found"
    status = 404


class ColumnRefused(GradebookError):
    """The column cannot be like that."""

    code = "column_refused"
    status = 409


class AssignmentRefused(GradebookError):
    """The teacher, the class, the course and the period must all be of one school."""

    code = "assignment_refused"
    status = 409


class TermNotFound(GradebookError):
    """There is no such term among those you may lock."""

    code = "term_not_found"
    status = 404


class TermIsLocked(GradebookError):
    """This term is locked: its marks stand still. Propose an amendment instead."""

    code = "term_locked"
    status = 409


class TermMovedOn(GradebookError):
    """This term was locked and opened again, or amended, since the page was loaded. Load the page again; what you typed is kept."""

    code = "term_moved_on"
    status = 409


class TermIsOpen(GradebookError):
    """This term is not locked."""

    code = "term_open"
    status = 409


class TermIsBusy(GradebookError):
    """Somebody is still writing marks in this term and does not come to an end. Nothing was changed; please try again in a moment."""

    code = "term_busy"
    status = 503


class NoReasonGiven(GradebookError):
    """Say why, in at most 500 characters: the reason stays in the record."""

    code = "no_reason"
    status = 400


class AmendmentNotFound(GradebookError):
    """There is no such amendment among those you may see."""

    code = "amendment_not_found"
    status = 404


class AmendmentRefused(GradebookError):
    """This amendment cannot be made."""

    code = "amendment_refused"
    status = 409


class CardsRefused(GradebookError):
    """Report cards cannot be issued now."""

    code = "cards_refused"
    status = 409


class SchemeRefused(GradebookError):
    """These rules for totals make no sense."""

    code = "scheme_refused"
    status = 409


class ChangedMeanwhile(GradebookError):
    """Somebody else has saved this since your page was opened. Nothing of yours was saved: open it anew, and enter it again there."""

    code = "changed_meanwhile"
    status = 409
