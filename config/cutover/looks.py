"""What the gates have found right already, so that a sheet to which nothing has happened is not read again.

The one thing to know: only what was found right is remembered, with a digest of all that was compared, taken in the same snapshot. Copies and
events cannot be changed; marks and lines of history could be, and are in the digest with every field.
"""

from collections.abc import Collection
from uuid import UUID

from django.db import connection

from gradebook.snapshots.phases import Phase
from outbox.db import fetch_row
from projections.models import ComparedSheet


def digest_sheet(sheet_id: UUID) -> str:
    """Return a digest of what the gates compare of a sheet, as it is now. One query; reads no copy's cells."""
    with connection.cursor() as cursor:
        (digest,) = fetch_row(cursor, "config", "digest_sheet", {"sheet": sheet_id})
    return str(digest)


def list_known(gate: Phase) -> dict[UUID, str]:
    """Return the sheets that this phase's gate has found right, each with its digest."""
    return dict(ComparedSheet.objects.filter(gate=gate).values_list("sheet_id", "digest"))


def remember(gate: Phase, sheet_id: UUID, digest: str) -> None:
    """Note that a gate has found a sheet right."""
    ComparedSheet.objects.update_or_create(gate=gate, sheet_id=sheet_id, defaults={"digest": digest})


def forget(gate: Phase, sheet_ids: Collection[UUID]) -> None:
    """Note that a gate has found something in these sheets."""
    ComparedSheet.objects.filter(gate=gate, sheet_id__in=sheet_ids).delete()
