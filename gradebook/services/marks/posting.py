"""A machine's results reach the sheet: set-based, in the transaction of the consumer that brings them.

The one thing to know: a post is compare-and-set. A result that is already recorded, or older than the recorded one, changes
nothing and says nothing, so posts may be repeated and replayed from the beginning of the log at any time. A result for a locked
term waits as a proposed amendment.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from uuid_utils.compat import uuid7

from gradebook.cells import AutomaticMark, CellKey, StoredCell, Verdict, after_post, judge_post
from gradebook.entries import DECIMALS
from gradebook.errors import ColumnNotFound, InvalidMark
from gradebook.events import Reason
from gradebook.models import Column, MarkSource, User
from gradebook.services.marks.facts import Change, Names, describe_change, record_changes
from gradebook.services.marks.rows import Place, insert_blank_cells, lock_cells
from gradebook.services.proposals import propose_results
from gradebook.services.terms import changing_marks
from outbox.log.publish import Actor
from outbox.models.log import ActorType

AUTOMATIC_GRADING = "Automatic grading"


@dataclasses.dataclass(frozen=True, slots=True)
class PostOutcome:
    """What became of the posts, cell by cell."""

    posted: list[CellKey]
    kept_beside: list[CellKey]
    unchanged: list[CellKey]
    proposed: list[CellKey] = dataclasses.field(default_factory=list)


def post_automatic_marks(*, posts: Iterable[AutomaticMark], by: str = AUTOMATIC_GRADING) -> PostOutcome:
    """Post results to their columns; of several for one cell the latest counts. Joins the caller's transaction.

    A teacher's own mark (a number or a code) stays, and the result is recorded beside it (reason `kept_beside`); a blank or an
    automatic mark is replaced (`posted`); where the term is locked the result is `proposed`. Shares the terms, then locks the cells in
    key order. Raises `ColumnNotFound` and `InvalidMark` before anything is written. Constant number of queries.
    """
    latest = {post.key: post for post in sorted(posts, key=lambda post: post.at)}
    _check(latest.values())
    columns = _get_columns(latest)
    with changing_marks({column.sheet.period_id for column in columns.values()}) as terms:
        late = [
            post for key, post in latest.items() if terms[columns[key.column_id].sheet.period_id].is_locked
        ]
        proposed = propose_results(late, columns)
        outcome = write_posts([post for post in latest.values() if post not in late], columns, by=by)
    return dataclasses.replace(outcome, unchanged=outcome.unchanged + proposed.known, proposed=proposed.made)


def write_posts(
    posts: Sequence[AutomaticMark], columns: Mapping[UUID, Column], *, by: str, actor: Actor | None = None
) -> PostOutcome:
    """Write results, at most one a cell, to terms that the caller holds and that may change."""
    wanted = {post.key: post for post in posts}
    places = [_place(columns[key.column_id], key) for key in wanted]
    insert_blank_cells(places, source=MarkSource.AUTOMATIC, by_id=None)
    stored = lock_cells(places)
    verdicts = {key: judge_post(post, stored[key]) for key, post in wanted.items()}
    changes = [_change(stored[key], wanted[key], verdict) for key, verdict in verdicts.items()]
    _write([change for change in changes if change], columns, by=by, actor=actor or Actor(ActorType.WORKER))
    return PostOutcome(
        *(_with(verdicts, wanted) for wanted in (Verdict.WRITE, Verdict.KEEP_BESIDE, Verdict.UNCHANGED))
    )


def _check(posts: Iterable[AutomaticMark]) -> None:
    for post in posts:
        if not (post.value.is_finite() and post.value >= 0 and post.value == round(post.value, DECIMALS)):
            raise InvalidMark(f"{post.value} is no automatic mark: at least 0, at most {DECIMALS} decimals.")


def _get_columns(keys: Iterable[CellKey]) -> Mapping[UUID, Column]:
    wanted = {key.column_id for key in keys}
    columns = Column.objects.select_related("sheet").in_bulk(wanted)
    if missing := wanted - columns.keys():
        raise ColumnNotFound(f"There is no column {min(missing)}.")
    return columns


def _place(column: Column, key: CellKey) -> Place:
    return Place(key, column.sheet_id, column.sheet.school_id)


def _change(stored: StoredCell, post: AutomaticMark, verdict: Verdict) -> Change | None:
    if verdict is Verdict.UNCHANGED:
        return None
    reason: Reason = "kept_beside" if verdict is Verdict.KEEP_BESIDE else "posted"
    return Change(stored, after_post(stored, post, verdict), reason, cause_id=post.cause_id)


def _write(changes: Sequence[Change], columns: Mapping[UUID, Column], *, by: str, actor: Actor) -> None:
    students = User.objects.in_bulk({change.after.key.student_id for change in changes})
    batch_id = uuid7()
    events = [
        describe_change(
            change,
            _names(columns[change.after.key.column_id], students[change.after.key.student_id], by=by),
            by=actor,
            batch_id=batch_id,
        )
        for change in changes
    ]
    record_changes([change.after for change in changes], events)


def _names(column: Column, student: User, *, by: str) -> Names:
    return Names(column.sheet.school_id, column.title, student.full_name, by)


def _with(verdicts: Mapping[CellKey, Verdict], wanted: Verdict) -> list[CellKey]:
    return [key for key, verdict in verdicts.items() if verdict is wanted]
