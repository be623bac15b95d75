"""The walk through the copies: chunk by chunk, each one transaction with its checkpoint, so that it may be killed anywhere.

The one thing to know: it walks each sheet from its newest copy before the log backwards, so a line's place is known as soon as it is
found, however many copies are still older. What people save meanwhile is after the cut-off and in another table: it is never touched.
"""

import dataclasses
from collections.abc import Iterator
from typing import Final
from uuid import UUID

from django.db import connection, transaction

from gradebook.snapshots.cells import Copy
from gradebook.snapshots.phases import has_copies
from gradebook.snapshots.reading import Place, count_copies_before_log, list_copied_sheets, walk_copies_back
from outbox.db import load_sql
from outbox.faults import fault_point
from projections.backfill.lines import compare_neighbours
from projections.models import BackfillCheckpoint, BackfilledMark

CHUNK: Final = 100
_NAMESPACE: Final = 0x77616C6B  # "walk"; the other half of the advisory lock is a hash of the sheet's id
INSERTED_AT_ONCE: Final = 500


@dataclasses.dataclass(frozen=True, slots=True)
class Chunk:
    """What one step of the walk did: the copies it compared, and the lines it found."""

    sheet_id: UUID
    copies: int
    lines: int
    is_complete: bool


def list_unfilled_sheets() -> list[UUID]:
    """Return the sheets whose copies have not all been compared, in the order of their ids."""
    complete = set(BackfillCheckpoint.objects.filter(is_complete=True).values_list("sheet_id", flat=True))
    return [sheet for sheet in list_copied_sheets(before_log=True) if sheet not in complete]


def has_unfilled_copies(sheet_id: UUID) -> bool:
    """Whether a sheet has copies from before the log that have not all been compared. One query where it has none, three where it has."""
    if (
        not has_copies(sheet_id)
        or BackfillCheckpoint.objects.filter(sheet_id=sheet_id, is_complete=True).exists()
    ):
        return False
    return count_copies_before_log(sheet_id) > 0


def backfill_sheet(sheet_id: UUID, *, size: int = CHUNK) -> Iterator[Chunk]:
    """Compare a sheet's copies from where the last run came to, a chunk of `size` at a time; each is committed when it is yielded."""
    while True:
        chunk = backfill_chunk(sheet_id, size=size)
        yield chunk
        if chunk.is_complete:
            return


def backfill_chunk(sheet_id: UUID, *, size: int = CHUNK) -> Chunk:
    """Compare the next copies of a sheet and move its checkpoint, in one transaction. A second runner waits, and goes on behind it."""
    with transaction.atomic():
        _hold(sheet_id)
        checkpoint = BackfillCheckpoint.objects.filter(sheet_id=sheet_id).first()
        if checkpoint is not None and checkpoint.is_complete:
            return Chunk(sheet_id, 0, 0, is_complete=True)
        chunk = _Walk(sheet_id, checkpoint, size).run()
        fault_point("in_backfill_chunk")
    return chunk


def forget_backfill(sheet_ids: list[UUID]) -> None:
    """Throw away what was filled in for these sheets: their copies are no longer the same. Needs the caller's transaction."""
    BackfilledMark.objects.filter(sheet_id__in=sheet_ids).delete()
    BackfillCheckpoint.objects.filter(sheet_id__in=sheet_ids).delete()


def _hold(sheet_id: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute(load_sql("projections", "hold_backfill"), {"namespace": _NAMESPACE, "sheet": sheet_id})


class _Walk:
    """One chunk: from the copy of the checkpoint on, whose own neighbour is still to come."""

    def __init__(self, sheet_id: UUID, checkpoint: BackfillCheckpoint | None, size: int) -> None:
        self._sheet_id = sheet_id
        self._checkpoint = checkpoint
        self._size = size
        self._pos = checkpoint.pos if checkpoint else -1
        self._waiting: list[BackfilledMark] = []
        self._lines = 0

    def run(self) -> Chunk:
        """Compare, write, and move the checkpoint."""
        upto = Place(self._checkpoint.copy_created_at, self._checkpoint.copy_id) if self._checkpoint else None
        newer: Copy | None = None
        compared = read = 0
        for copy in walk_copies_back(self._sheet_id, upto=upto, most=self._size + 1):
            read += 1
            if newer is not None:
                self._compare(copy, newer)
                compared += 1
            newer = copy
        is_complete = read <= self._size
        if is_complete and newer is not None:
            self._compare(None, newer)
            compared += 1
        self._write()
        self._move(newer, compared, is_complete=is_complete)
        return Chunk(self._sheet_id, compared, self._lines, is_complete)

    def _compare(self, older: Copy | None, newer: Copy) -> None:
        lines = compare_neighbours(older, newer, newest_pos=self._pos)
        self._pos -= len(lines)
        self._lines += len(lines)
        self._waiting += lines
        if len(self._waiting) >= INSERTED_AT_ONCE:
            self._write()

    def _write(self) -> None:
        BackfilledMark.objects.bulk_create(self._waiting, batch_size=INSERTED_AT_ONCE, ignore_conflicts=True)
        self._waiting = []

    def _move(self, last: Copy | None, compared: int, *, is_complete: bool) -> None:
        if last is None:
            return
        before = self._checkpoint.copies if self._checkpoint else 0
        BackfillCheckpoint.objects.update_or_create(
            sheet_id=self._sheet_id,
            defaults={
                "copy_created_at": last.created_at,
                "copy_id": last.id,
                "pos": self._pos,
                "copies": before + compared,
                "is_complete": is_complete,
            },
        )


def count_copies_to_come(sheet_id: UUID) -> int:
    """Return how many copies of a sheet are still to be compared."""
    checkpoint = BackfillCheckpoint.objects.filter(sheet_id=sheet_id).first()
    return count_copies_before_log(sheet_id) - (checkpoint.copies if checkpoint else 0)
