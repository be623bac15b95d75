"""An Excel workbook as a table: it is looked into by the program in `worksheets`, and this reads what that says.

The one thing to know: which worksheet is meant is never guessed. One that says something is taken; of several, somebody has to name one.
"""

import io
import threading
from typing import Any, ClassVar, Final

from gradebook.entries import DecimalSign
from gradebook.errors import GradebookError
from gradebook.imports.formulas import unguard
from gradebook.imports.tables import BadFile, Bounds, Fault, Row, Table, part_header
from gradebook.imports.worksheets import BROKEN
from outbox.confined import LookInterrupted, Unreadable, look_into

_PROGRAM: Final = "gradebook.imports.worksheets"
# So many at once in a process, and how long one more waits: a workbook takes a fifth of a second, a bad one seconds, and eight
# of those would leave nobody to answer for mark sheets.
TURNS: Final = threading.BoundedSemaphore(2)
TURN_SECONDS: Final = 3.0


class WorksheetNotNamed(GradebookError):
    """Several worksheets of this workbook say something."""

    code: ClassVar[str] = "worksheet_not_named"
    status: ClassVar[int] = 409

    def __init__(self, worksheets: list[str]) -> None:
        self.worksheets = worksheets
        names = ", ".join(f"“{name}”" for name in worksheets)
        super().__init__(f"There are several worksheets in this workbook: {names}. Which one is meant?")


class WorkbookNotRead(GradebookError):
    """This workbook could not be read just now, for no fault of its own. Try again in a moment, or save it as “CSV UTF-8”."""

    code: ClassVar[str] = "workbook_not_read"
    status: ClassVar[int] = 503


def read_workbook(data: bytes, *, decimal_sign: DecimalSign, worksheet: str, bounds: Bounds) -> Table:
    """Return the table in a worksheet, its numbers with this decimal sign.

    Raises `BadFile`; `WorksheetNotNamed` where `worksheet` is empty and has to be said; `WorkbookNotRead`.
    """
    said = _look(data, decimal_sign, str(bounds.rows), str(bounds.seconds), worksheet, seconds=bounds.seconds)
    if "problem" in said:
        raise BadFile(Fault(0, said["problem"]))
    if "worksheets" in said:
        raise WorksheetNotNamed(said["worksheets"])
    return Table(*part_header(Row(line, list(map(unguard, values))) for line, values in said["rows"]))


def _look(data: bytes, *arguments: str, seconds: int) -> dict[str, Any]:
    if not TURNS.acquire(timeout=TURN_SECONDS):
        raise WorkbookNotRead
    try:
        return look_into(io.BytesIO(data), _PROGRAM, *arguments, seconds=seconds)
    except Unreadable as error:
        raise BadFile(Fault(0, BROKEN)) from error
    except LookInterrupted as error:
        raise WorkbookNotRead from error
    finally:
        TURNS.release()
