"""While the cut-over lasts, a change of marks writes a copy of the whole sheet beside its events, in the same transaction.

The one thing to know: copying takes the sheet's lock after the cells are written, and reads after it has it, so each copy holds
everything the one before it held. (The system this replaces did not: two teachers who saved at once undid each other in its copies.)
"""

import json
from collections.abc import Collection, Iterable
from uuid import UUID

from django.db import connection
from uuid_utils.compat import uuid7

from outbox.db import load_sql

SAVED = "saved"


def keep_copies(
    sheet_ids: Collection[UUID], *, reasons: Iterable[str], batch_id: UUID, by_id: UUID | None, by_name: str
) -> None:
    """Copy these sheets as they are now. The caller shares the cut-over, in a phase that asks for it. Two queries.

    `reasons` are those of the changes that were made; `batch_id` is that of their events. Needs their transaction.
    """
    copies = [{"id": str(uuid7()), "sheet_id": str(sheet)} for sheet in sorted(sheet_ids)]
    parameters = {
        "copies": json.dumps(copies),
        "action": name_action(reasons),
        "by": by_id,
        "by_name": by_name,
        "batch": batch_id,
    }
    with connection.cursor() as cursor:
        cursor.execute(load_sql("gradebook", "lock_sheets"), {"sheets": sorted(sheet_ids)})
        cursor.execute(load_sql("gradebook", "write_copies"), parameters)


def name_action(reasons: Iterable[str]) -> str:
    """Return what a copy says was done: the one reason its changes share, or that somebody saved (typed and cleared cells together)."""
    what = {SAVED if reason in {"typed", "cleared"} else reason for reason in reasons}
    return what.pop() if len(what) == 1 else SAVED
