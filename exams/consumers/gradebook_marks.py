"""`gradebook_marks`: posts results to the mark sheets, a step behind the grading, at its own pace.

Only finished results are posted: of one that waits for a person, the automatic part in a sheet would look like the mark. A
failed grading never touches a mark. An opened-again attempt leaves its mark until its new result comes.
"""

from datetime import timedelta
from uuid import UUID

from exams.events import SubmissionGraded
from exams.models import ResultState
from exams.services.posting import Sitting, post_results
from outbox.consumers.consumer import Batch


class GradebookMarks:
    """Not a projection: a teacher's own marks are in the same cells, so there is nothing that could be thrown away."""

    name = "gradebook_marks"
    kinds = frozenset({SubmissionGraded.kind})
    staleness_budget = timedelta(seconds=10)

    def apply(self, batch: Batch) -> None:
        """Post what the students of these events have now; the latest event of a sitting is named as the cause."""
        graded = [event for event in batch.read_events() if event.payload["state"] == ResultState.GRADED]
        post_results(
            {
                Sitting(UUID(event.payload["exam_id"]), UUID(event.payload["student_id"])): event.event_id
                for event in graded
            }
        )
