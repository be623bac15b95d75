"""What may be known of a paper without reading it: its size, and which questions are in it."""

import dataclasses
import functools
from decimal import Decimal
from uuid import UUID

from django.db.models import F, Func, IntegerField

from exams.models import ExamRevision, Question


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


@functools.lru_cache(maxsize=500)
def list_question_ids(revision_id: UUID) -> tuple[str, ...]:
    """Return the ids of a published revision's questions in paper order, kept once read: it never changes (a trigger sees to that)."""
    ids = Question.objects.filter(revision=revision_id).order_by("position").values_list("id", flat=True)
    return tuple(map(str, ids))
