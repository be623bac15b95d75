"""What can go wrong in the gradebook. Each has a stable `code`; the docstring is the default message."""

from typing import Any, ClassVar


class GradebookError(Exception):
    """The gradebook refused this."""

    code: ClassVar[str] = "gradebook_error"
    status: ClassVar[int] = 400

    def __init__(
        self, detail: str | None = None, *, pointer: str | None = None, **extra: Any
    ) -> None:
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
