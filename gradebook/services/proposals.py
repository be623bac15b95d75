"""Amendments are proposed here: by a teacher with a reason, by a machine whose result came too late.

The one thing to know: proposing changes no mark. `gradebook.services.amendments` decides.
"""

import dataclasses
import datetime as dt
import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection
from django.db.models import Max
from uuid_utils.compat import uuid7

from gradebook import queries
from gradebook.cells import AutomaticMark, CellKey, StoredCell
from gradebook.entries import BLANK, Entry, check_entry
from gradebook.errors import AmendmentRefused
from gradebook.models import Amendment, Column, MarkSheet, MarkSource, User
from gradebook.services.editing import require_editor
from gradebook.services.terms import changing_marks, read_reason
from outbox.db import database_now, load_sql, require_transaction

CAME_LATE = "The result came after the term was locked."


@dataclasses.dataclass(frozen=True, slots=True)
class Proposals:
    """What became of late results: proposed now, or known already."""

    made: list[CellKey]
    known: list[CellKey]


def propose_amendment(*, sheet: MarkSheet, key: CellKey, entry: Entry, reason: str, by: User) -> Amendment:
    """Propose another mark for a cell of a locked term, or none (a blank entry clears it).

    Raises `SheetNotFound` or `MarksAreReadOnly` when `by` may not, `NoReasonGiven`, and `AmendmentRefused` when the term is open (marks
    are typed into the sheet then), the cell cannot hold the entry, shows it already, or has a proposal that waits.
    """
    why = read_reason(reason)
    with changing_marks([sheet.period_id]) as terms:
        require_editor(sheet, by)
        if not terms[sheet.period_id].is_locked:
            raise AmendmentRefused("This term is not locked: type the mark into the sheet.")
        cell = queries.find_cells(sheet.pk, [key]).get(key)
        _check(sheet, key, entry, cell)
        amendment = Amendment(
            **_where(sheet, key, cell),
            value=entry.value,
            code=entry.code,
            reason=why,
            source=MarkSource.TEACHER,
            proposed_by=by,
            proposed_at=database_now(),
        )
        Amendment.objects.bulk_create([amendment], ignore_conflicts=True)
        if not Amendment.objects.filter(pk=amendment.pk).exists():
            raise AmendmentRefused("An amendment of this cell already waits for a signature.")
    return amendment


def propose_results(posts: Sequence[AutomaticMark], columns: Mapping[UUID, Column]) -> Proposals:
    """Propose results that came too late, at most one a cell. Needs a transaction that holds their terms.

    One that is recorded, or no younger than the last one proposed, is known: a replay proposes nothing twice, and what was
    refused is not proposed again. Three queries, none for no posts.
    """
    require_transaction()
    if not posts:
        return Proposals([], [])
    latest = _list_latest_proposals(posts)
    cells = queries.find_cells(None, [post.key for post in posts])
    news = [post for post in posts if _is_news(post, cells.get(post.key), latest.get(post.key))]
    rows = [_as_row(post, columns[post.key.column_id].sheet, cells.get(post.key)) for post in news]
    with connection.cursor() as cursor:
        cursor.execute(
            load_sql("gradebook", "propose_results"),
            {"proposals": json.dumps(rows, cls=DjangoJSONEncoder), "reason": CAME_LATE},
        )
    made = [post.key for post in news]
    return Proposals(made, known=[post.key for post in posts if post.key not in made])


def _check(sheet: MarkSheet, key: CellKey, entry: Entry, cell: StoredCell | None) -> None:
    column = sheet.columns.filter(pk=key.column_id).first()
    if column is None:
        raise AmendmentRefused("This column is not in this mark sheet.")
    if not queries.list_students(sheet).filter(pk=key.student_id).exists():
        raise AmendmentRefused("This student is not in this class.")
    if refused := check_entry(entry, max_points=column.max_points):
        raise AmendmentRefused(refused.detail)
    if entry == (cell.entry if cell else BLANK):
        raise AmendmentRefused("The cell shows that already.")


def _is_news(post: AutomaticMark, cell: StoredCell | None, proposed_at: dt.datetime | None) -> bool:
    recorded = cell is not None and (
        cell.automatic_value == post.value or (cell.automatic_at is not None and post.at < cell.automatic_at)
    )
    return not recorded and (proposed_at is None or post.at > proposed_at)


def _list_latest_proposals(posts: Sequence[AutomaticMark]) -> dict[CellKey, dt.datetime]:
    """Return when the last result that was ever proposed for each cell was found, whatever became of it."""
    found = (
        Amendment.objects.filter(
            source=MarkSource.AUTOMATIC,
            column__in={post.key.column_id for post in posts},
            student__in={post.key.student_id for post in posts},
        )
        .values_list("column_id", "student_id")
        .annotate(latest=Max("automatic_at"))
    )
    return {CellKey(column_id, student_id): latest for column_id, student_id, latest in found}


def _as_row(post: AutomaticMark, sheet: MarkSheet, cell: StoredCell | None) -> dict[str, Any]:
    return {
        "id": uuid7(),
        **_where(sheet, post.key, cell),
        "value": post.value,
        "automatic_at": post.at,
        "cause_id": post.cause_id,
    }


def _where(sheet: MarkSheet, key: CellKey, cell: StoredCell | None) -> dict[str, Any]:
    """Return the fields that say which cell, and what it shows now."""
    shown = cell.entry if cell else BLANK
    return {
        "period_id": sheet.period_id,
        "sheet_id": sheet.pk,
        **key._asdict(),
        "old_value": shown.value,
        "old_code": shown.code,
        "old_version": cell.version if cell else 0,
    }
