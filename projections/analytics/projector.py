"""Keeps the figures of columns and exams: how often each mark and each score occurs, and the sums that item analysis needs.

The one thing to know: what is kept are counts and exact sums, never a mean, and beside them what each cell and attempt contributes
now. A change takes the old contribution out and puts the new one in; an event that was met before moves nothing. So the tables do not depend
on how the log was cut into batches, and equal those of a filling from the start.
"""

from datetime import timedelta

from exams.events import AttemptReopened, ExamPublished, SubmissionGraded
from gradebook.events import ColumnChanged, ColumnRemoved, MarkChanged
from outbox.consumers.consumer import Batch, Span

MARKS = frozenset({MarkChanged.kind})
COLUMNS = frozenset({ColumnChanged.kind, ColumnRemoved.kind})
RESULTS = frozenset({SubmissionGraded.kind, AttemptReopened.kind})
NAMES = frozenset({SubmissionGraded.kind, ExamPublished.kind})

# What a batch with any of these kinds runs, in this order.
STATEMENTS = (
    (MARKS, "count_marks"),
    (COLUMNS, "note_columns"),
    (RESULTS, "count_results"),
    (NAMES, "name_exam_groups"),
    (MARKS | RESULTS, "delete_empty_counts"),
)


class Analytics:
    """The consumer `analytics`."""

    name = "analytics"
    kinds = MARKS | COLUMNS | RESULTS | NAMES
    staleness_budget = timedelta(seconds=30)
    tables = (
        "projections_analyticsmark",
        "projections_columncount",
        "projections_analyticscolumn",
        "projections_columnexam",
        "projections_analyticsresult",
        "projections_scorecount",
        "projections_itemsum",
        "projections_examgroup",
    )

    def apply(self, batch: Batch) -> None:
        """Take the batch's changes into the figures."""
        _run(batch)

    def fill(self, span: Span) -> int:
        """Take a whole span's changes into the figures."""
        return _run(span)


def _run(events: Batch | Span) -> int:
    found = events.count_kinds()
    for kinds, statement in STATEMENTS:
        if kinds & found.keys():
            events.execute("projections", statement)
    return sum(found.values())
