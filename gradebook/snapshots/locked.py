"""What a sheet's page shows of a locked term: its marks, or until the cut-over has switched that read, what its last copy says.

The one thing to know: this is the one switch of the locked read. An open sheet shows its marks in every phase.
"""

import dataclasses
from decimal import Decimal

from gradebook.cells import StoredCell
from gradebook.entries import Entry
from gradebook.models import MarkSheet
from gradebook.queries import list_cells
from gradebook.snapshots.cells import CopiedCell, read_cells
from gradebook.snapshots.phases import get_phase
from gradebook.snapshots.reading import find_newest_copy


def list_shown_cells(sheet: MarkSheet) -> list[StoredCell]:
    """Return the cells as the sheet's page shows them. One query; one more where the term is locked, and another for its copy."""
    cells = list_cells(sheet)
    if not (sheet.period.is_locked and get_phase().shows_locked_copies):
        return cells
    newest = find_newest_copy(sheet.pk)
    if newest is None:  # it never was in the old system
        return cells
    copied = read_cells(newest.cells)
    return [_as_copied(cell, copied[cell.key]) for cell in cells if cell.key in copied]


def _as_copied(cell: StoredCell, copied: CopiedCell) -> StoredCell:
    entry = Entry(Decimal(copied.value) if copied.value else None, copied.code)
    return dataclasses.replace(cell, entry=entry, source=copied.source)
