"""Results reach the mark sheets: what a student's attempts make, posted to the columns that their classes' sheets have for the exam.

The one thing to know: a post is worked out from the results as they are now, and posting what is there already changes nothing
(`gradebook.services.marks`). So it may be done again at any time: when an event is replayed, or when a column is linked late.
"""

import dataclasses
from collections.abc import Collection, Mapping
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db import connection, transaction

from exams.counting import AttemptResult, find_mark
from gradebook.cells import AutomaticMark, CellKey
from gradebook.services.marks import PostOutcome, post_automatic_marks
from outbox.db import load_sql


@dataclasses.dataclass(frozen=True, slots=True)
class Sitting:
    """One student's attempts at one exam, taken together."""

    exam_id: UUID
    student_id: UUID


@dataclasses.dataclass(slots=True)
class _Cell:
    """What is known about one cell to post to."""

    sitting: Sitting
    policy: str
    out_of: Decimal
    results: list[AttemptResult] = dataclasses.field(default_factory=list)
    graded_at: list[datetime] = dataclasses.field(default_factory=list)


def post_results(sittings: Mapping[Sitting, UUID | None]) -> PostOutcome:
    """Post the marks of these sittings; each names the event that asks for it, if one does. Joins the caller's transaction."""
    posts = []
    for key, cell in _read_cells(sittings).items():
        mark = find_mark(cell.policy, cell.results, out_of=cell.out_of)
        if mark is not None:
            posts.append(AutomaticMark(key, mark, at=max(cell.graded_at), cause_id=sittings[cell.sitting]))
    return post_automatic_marks(posts=posts)


@transaction.atomic
def post_exam_results(*, exam_id: UUID) -> PostOutcome:
    """Post all results of an exam, for a column that was linked to it after they were found. Each names the event that told of it."""
    with connection.cursor() as cursor:
        cursor.execute(load_sql("exams", "list_sittings_of_exam"), {"exam": exam_id})
        return post_results({Sitting(exam_id, student_id): event_id for student_id, event_id in cursor})


def _read_cells(sittings: Collection[Sitting]) -> dict[CellKey, _Cell]:
    asked = list(sittings)
    parameters = {
        "exams": [sitting.exam_id for sitting in asked],
        "students": [sitting.student_id for sitting in asked],
    }
    with connection.cursor() as cursor:
        cursor.execute(load_sql("exams", "list_results_to_post"), parameters)
        rows = cursor.fetchall()
    cells: dict[CellKey, _Cell] = {}
    for exam_id, student_id, column_id, policy, out_of, number, state, score, max_points, graded_at in rows:
        cell = cells.setdefault(
            CellKey(column_id, student_id), _Cell(Sitting(exam_id, student_id), policy, out_of)
        )
        cell.results.append(AttemptResult(number, state, score, max_points))
        cell.graded_at.append(graded_at)
    return cells
