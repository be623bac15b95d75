"""What the newest copy says becomes the marks of the sheet, where it has none yet: the old system's present is ours from then on.

The one thing to know: such a mark has an event, like every mark, so that whatever reads the log knows it; but it is no change, so it is no
line of history. How it came to be is told by the lines made from the copies.
"""

import dataclasses
from decimal import Decimal
from typing import Final

from django.db import transaction
from uuid_utils.compat import uuid7

from gradebook.cells import CellKey, StoredCell, after_teacher
from gradebook.entries import Entry
from gradebook.models import Mark, MarkSheet, MarkSource, User
from gradebook.services.marks.facts import Change, Names, describe_change
from gradebook.services.marks.rows import Place, insert_blank_cells, lock_cells, write_cells
from gradebook.services.terms import changing_marks, require_open
from gradebook.snapshots.cells import CopiedCell
from gradebook.snapshots.reading import get_newest_cells
from outbox.log.publish import Actor, publish
from outbox.models.log import ActorType

REASON: Final = "carried_over"


def carry_over_marks(*, sheet: MarkSheet, by: User) -> int:
    """Make a mark of each cell of the newest copy that has none and whose column the sheet has; return how many.

    A mark that is there stays, whatever the copy says: the cut-over's gate names the difference. Raises `TermIsLocked`.
    """
    with transaction.atomic(), changing_marks([sheet.period_id]) as terms:
        require_open(terms[sheet.period_id])
        wanted = _list_missing(sheet)
        places = [Place(key, sheet.pk, sheet.school_id) for key in sorted(wanted)]
        insert_blank_cells(places, source=MarkSource.TEACHER, by_id=by.pk)
        stored = lock_cells(places)
        changes = [
            Change(cell, _fill(cell, wanted[key], by), REASON) for key, cell in stored.items() if cell.is_new
        ]
        write_cells(change.after for change in changes)
        _publish(sheet, changes, by)
    return len(changes)


def _list_missing(sheet: MarkSheet) -> dict[CellKey, CopiedCell]:
    columns = set(sheet.columns.values_list("id", flat=True))
    there = {CellKey(*key) for key in Mark.objects.filter(sheet=sheet).values_list("column_id", "student_id")}
    cells = get_newest_cells(sheet.pk)
    return {key: cell for key, cell in cells.items() if key.column_id in columns and key not in there}


def _fill(cell: StoredCell, copied: CopiedCell, by: User) -> StoredCell:
    entry = Entry(Decimal(copied.value) if copied.value else None, copied.code)
    after = after_teacher(cell, entry, by_id=by.pk)
    return dataclasses.replace(after, source=copied.source or MarkSource.TEACHER)


def _publish(sheet: MarkSheet, changes: list[Change], by: User) -> None:
    titles = dict(sheet.columns.values_list("id", "title"))
    students = User.objects.in_bulk({change.after.key.student_id for change in changes})
    batch_id = uuid7()
    publish(
        describe_change(
            change,
            Names(
                sheet.school_id,
                titles[change.after.key.column_id],
                students[change.after.key.student_id].full_name,
                by.full_name,
            ),
            by=Actor(ActorType.IMPORT, by.pk),
            batch_id=batch_id,
        )
        for change in changes
    )
