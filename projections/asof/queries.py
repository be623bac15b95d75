"""A mark sheet as it was, and what is different between two moments. From the history alone, which is the log's (and the old copies' before it).

The one thing to know: everything is by position, because positions are the order in which changes can be read. A moment stands for the last
change of the sheet that had happened by then.
"""

import dataclasses
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from outbox.db import load_sql
from projections.models import WholeHistory

BEFORE_ALL: Final = -(2**63)  # before the first change of either era
AFTER_ALL: Final = 2**63 - 1  # now, whatever has come meanwhile
SEVERAL: Final = 5  # cells, that a save be worth naming
_LOOK_AT: Final = 2_000
MOST_BATCHES: Final = 6


@dataclasses.dataclass(frozen=True, slots=True)
class BatchOfChanges:
    """One save that changed several cells: from the change at `first` to that at `last`."""

    first: int
    last: int
    cells: int
    occurred_at: datetime
    actor_name: str
    actor_type: str
    reason: str

    @property
    def before(self) -> int:
        """The position just before it."""
        return self.first - 1


def find_position_at(moment: datetime, *, sheet_id: UUID) -> int:
    """Return the position of the sheet's last change that had happened by then, `BEFORE_ALL` where none had.

    One query, back from the newest change along the sheet's index: it costs what changed since then.
    """
    lines = WholeHistory.objects.filter(sheet_id=sheet_id, occurred_at__lte=moment)
    found = lines.order_by("-pos").values_list("pos", flat=True)[:1]
    return found[0] if found else BEFORE_ALL


def list_cells_as_of(pos: int, *, sheet_id: UUID) -> list[WholeHistory]:
    """Return each cell's last change up to a position: its `new` is what the cell showed. One query, a few index probes a cell."""
    statement = load_sql("projections", "list_cells_as_of")
    return list(WholeHistory.objects.raw(statement, {"sheet": sheet_id, "pos": pos}))


def list_differences_between(after: int, upto: int, *, sheet_id: UUID) -> list[WholeHistory]:
    """Return the cells that show something else at `upto` than at `after`, by student: `old` is what was, `new` what is. One query.

    Who, why and when are those of the change that made it what it is.
    """
    statement = load_sql("projections", "list_differences_between")
    parameters = {"sheet": sheet_id, "after": after, "upto": upto}
    return list(WholeHistory.objects.raw(statement, parameters))


def list_recent_batches(*, sheet_id: UUID) -> list[BatchOfChanges]:
    """Return the newest saves that changed five cells or more, newest first. One query, over the newest 2,000 changes at most."""
    parameters: dict[str, Any] = {
        "sheet": sheet_id,
        "look_at": _LOOK_AT,
        "least": SEVERAL,
        "limit": MOST_BATCHES,
    }
    with connection.cursor() as cursor:
        cursor.execute(load_sql("projections", "list_recent_batches"), parameters)
        return [BatchOfChanges(*row) for row in cursor.fetchall()]
