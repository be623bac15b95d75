"""Whose work at an exam has come to a score."""

from uuid import UUID

from exams.models import Result, ResultState


def list_scored_students(*, exam_id: UUID) -> list[UUID]:
    """Return the students with a complete result, each once. One read."""
    scored = Result.objects.filter(
        exam_id=exam_id, state=ResultState.GRADED, submission__withdrawn_at__isnull=True
    )
    return list(scored.order_by().values_list("submission__student_id", flat=True).distinct())
