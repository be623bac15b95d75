"""A term's totals are worked out again, and only those that moved are written, each with the reason.

The one thing to know: a stored total is never the source of anything a person decides by; pages work totals out from the marks
(`gradebook.queries.totals`). It is what reports and lists over a whole school read, and the record of when and why a total moved.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from uuid import UUID

from django.db import transaction
from uuid_utils.compat import uuid7

from gradebook.models import MarkSheet, StoredTotal, TotalCause
from gradebook.queries.totals import SheetRules, find_totals, read_rules
from gradebook.totals import Total
from outbox.db import database_now

SHEETS_AT_ONCE = 50

Progress = Callable[[int], None]


@dataclasses.dataclass(slots=True)
class Recalculation:
    """What a recalculation looked at and what it wrote."""

    looked_at: int = 0
    first: int = 0
    moved_by_marks: int = 0
    moved_by_rules: int = 0

    @property
    def written(self) -> int:
        """How many rows were written."""
        return self.first + self.moved_by_marks + self.moved_by_rules


def recalculate_term(*, period_id: UUID, progress: Progress | None = None) -> Recalculation:
    """Work out every total of a term and write those that moved, fifty sheets a transaction; interrupted, it is simply run again.

    `progress` is told how many sheets are done. Memory is bounded by fifty sheets.
    """
    done = Recalculation()
    for sheets in _in_pieces(
        MarkSheet.objects.filter(period=period_id).order_by("id").values_list("pk", flat=True)
    ):
        _recalculate(sheets, done)
        if progress:
            progress(len(sheets))
    return done


def _in_pieces(sheet_ids: Iterable[UUID]) -> Iterator[list[UUID]]:
    rest = iter(list(sheet_ids))
    while piece := list(islice(rest, SHEETS_AT_ONCE)):
        yield piece


@transaction.atomic
def _recalculate(sheet_ids: Sequence[UUID], done: Recalculation) -> None:
    """Work out and write the totals of some sheets. Locks them, so that two recalculations take turns; saving marks goes on."""
    list(MarkSheet.objects.select_for_update(no_key=True).filter(pk__in=sheet_ids).order_by("pk"))
    rules = read_rules(sheet_ids)
    totals = find_totals(sheet_ids, rules)
    stored = {
        (row.sheet_id, row.student_id): row for row in StoredTotal.objects.filter(sheet__in=list(sheet_ids))
    }
    moved = [
        _move(key, total, stored.get(key), rules, done)
        for key, total in totals.items()
        if _has_moved(total, stored.get(key))
    ]
    done.looked_at += len(totals)
    now = database_now()
    for row in moved:
        row.moved_at = now
    StoredTotal.objects.bulk_create(
        moved,
        update_conflicts=True,
        unique_fields=["sheet", "student"],
        update_fields=["state", "percent", "letter", "before", "cause", "rules_digest", "moved_at"],
        batch_size=1000,
    )


def _has_moved(total: Total, row: StoredTotal | None) -> bool:
    return row is None or (row.state, row.percent, row.letter) != (total.state, total.percent, total.letter)


def _move(
    key: tuple[UUID, UUID],
    total: Total,
    row: StoredTotal | None,
    rules: Mapping[UUID, SheetRules],
    done: Recalculation,
) -> StoredTotal:
    digest = rules[key[0]].digest
    cause = _find_cause(row, digest)
    match cause:
        case TotalCause.FIRST:
            done.first += 1
        case TotalCause.MARKS:
            done.moved_by_marks += 1
        case TotalCause.SCHEME:
            done.moved_by_rules += 1
    return StoredTotal(
        id=uuid7(),
        sheet_id=key[0],
        student_id=key[1],
        state=total.state,
        percent=total.percent,
        letter=total.letter,
        before=row.percent if row else None,
        cause=cause,
        rules_digest=digest,
    )


def _find_cause(row: StoredTotal | None, digest: str) -> TotalCause:
    if row is None:
        return TotalCause.FIRST
    return TotalCause.MARKS if row.rules_digest == digest else TotalCause.SCHEME
