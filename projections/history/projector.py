"""Keeps the mark history: one line for every `MarkChanged`, written set-based from the log itself.

The event carries everything a line shows (names as they were), so the projection never reads another table,
and a line is keyed by its event's position: met twice it stays one, in whatever order batches arrive.
"""

from datetime import timedelta

from gradebook.events import MarkChanged
from outbox.consumers.consumer import Batch, Span

HISTORY_TABLE = "projections_markhistory"


class MarksheetHistory:
    """The consumer `marksheet_history`."""

    name = "marksheet_history"
    kinds = frozenset({MarkChanged.kind})
    staleness_budget = timedelta(seconds=5)
    tables = (HISTORY_TABLE,)

    def apply(self, batch: Batch) -> None:
        """Add the batch's lines."""
        batch.execute("projections", "project_mark_history")

    def fill(self, span: Span) -> int:
        """Write the lines of a whole span into the emptied table."""
        return span.execute("projections", "project_mark_history")
