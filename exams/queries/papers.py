"""What a student may know of a paper before sitting it."""

import dataclasses
from decimal import Decimal
from uuid import UUID

from django.db.models import F, Func, IntegerField

from exams.models import ExamRevision


@dataclasses.dataclass(frozen=True, slots=True)
class PaperSize:
    """How much there is to do."""

    questions: int
    max_points: Decimal


def get_current_paper(exam_id: UUID) -> PaperSize:
    """Return the size of the exam's latest published paper. One read, which leaves the paper itself where it is."""
    length = Func(F("paper"), function="jsonb_array_length", output_field=IntegerField())
    published = ExamRevision.objects.filter(exam=exam_id, published_at__isnull=False).annotate(length=length)
    questions, max_points = published.order_by("-number").values_list("length", "max_points")[0]
    assert max_points is not None  # a published paper is frozen whole
    return PaperSize(questions, max_points)
