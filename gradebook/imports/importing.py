"""A file is held against a sheet, and its marks are saved: all of them, or none.

The one thing to know: an import goes through the door that teachers type through (`save_marks`), each change based on the version that
the plan saw. A mark that somebody changed in between is a fault, and takes the whole import back.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from django.db import transaction

from gradebook import queries
from gradebook.errors import GradebookError
from gradebook.imports.plans import Plan, PlannedChange, Sheet, Wishes, plan_import
from gradebook.imports.reading import read_table
from gradebook.imports.tables import BadFile, Fault
from gradebook.models import MarkSheet, Period, User
from gradebook.services.editing import require_editor
from gradebook.services.marks import SaveOutcome, save_marks
from gradebook.services.terms import require_open


class ImportRefused(GradebookError):
    """Nothing of this file was imported."""

    code: ClassVar[str] = "import_refused"
    status: ClassVar[int] = 409

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = list(faults)
        super().__init__()


def prepare_import(*, sheet: MarkSheet, data: bytes, wishes: Wishes, by: User) -> Plan:
    """Return what a file would do to a sheet; nothing is written. Constant number of queries.

    Raises `SheetNotFound` or `MarksAreReadOnly` when `by` may not, `TermIsLocked` when nobody may, and of a workbook what `read_workbook` raises.
    """
    require_editor(sheet, by)
    require_open(Period.objects.get(pk=sheet.period_id))
    try:
        table = read_table(data, decimal_sign=wishes.decimal_sign, worksheet=wishes.worksheet)
    except BadFile as error:
        return Plan(faults=list(error.faults))
    layout = queries.get_layout(sheet)
    known = Sheet(
        layout.columns,
        {student.username: student for student in layout.students},
        {cell.key: cell for cell in queries.list_cells(sheet)},
    )
    return plan_import(table, known, wishes)


def require_sound(plan: Plan) -> None:
    """Raise `ImportRefused` for a plan with faults."""
    if plan.faults:
        raise ImportRefused(plan.faults)


def apply_import(*, sheet: MarkSheet, plan: Plan, by: User, generation: int | None = None) -> int:
    """Save all marks of a plan in one transaction, as one batch; return how many there were.

    Raises what `save_marks` raises, and `ImportRefused` where the plan has faults, or a cell is another by now.
    """
    require_sound(plan)
    with transaction.atomic():
        changes = [planned.change for planned in plan.changes]
        outcome = save_marks(sheet=sheet, changes=changes, by=by, generation=generation)
        if faults := list(_list_faults(plan.changes, outcome)):
            raise ImportRefused(faults)
    return len(changes)


def _list_faults(changes: Iterable[PlannedChange], outcome: SaveOutcome) -> Iterator[Fault]:
    """Yield what the save found otherwise than the plan did, by line."""
    others = {conflict.theirs.key: conflict.theirs.changed_by for conflict in outcome.conflicts}
    refusals = {refusal.key: refusal.detail for refusal in outcome.refused}
    for planned in changes:
        key, cell = planned.change.key, f"{planned.student.full_name}, {planned.column.title}"
        if key in others:
            who = others[key] or "Automatic grading"
            yield Fault(planned.line, f"{cell}: {who} changed this mark while the file was being looked at.")
        elif key in refusals:
            yield Fault(planned.line, f"{cell}: {refusals[key]}")
