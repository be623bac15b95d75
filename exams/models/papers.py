"""The paper: a revision with its questions, edited as rows, then published.

Publishing freezes it, with what students see (`paper`) apart from what the grader needs (`key`). A published revision never changes; a
correction is a new one.
"""

from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7


class QuestionKind(models.TextChoices):
    """The kinds a question may have; the API uses these words."""

    SINGLE_CHOICE = "single_choice", "Single choice"
    MULTIPLE_CHOICE = "multiple_choice", "Multiple choice"
    TRUE_FALSE = "true_false", "True or false"
    NUMERIC = "numeric", "Number"
    SHORT_TEXT = "short_text", "Short answer"
    MATCHING = "matching", "Matching"
    ESSAY = "essay", "Essay"
    UPLOAD = "upload", "Photo or PDF"


class ExamRevision(models.Model):
    """One version of an exam's paper. While `published_at` is empty its questions may be edited."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    exam = models.ForeignKey("exams.Exam", on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    instructions = models.TextField(blank=True, default="")
    published_at = models.DateTimeField(null=True, blank=True)
    published_by = models.ForeignKey(
        "gradebook.User",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    paper = models.JSONField(null=True, editable=False)  # list of questions as students see them, no key
    key = models.JSONField(null=True, editable=False)  # question id -> what the grader needs
    max_points = models.DecimalField(max_digits=9, decimal_places=3, null=True, editable=False)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["exam", "number"], name="revision_numbers_unique_in_exam"),
            models.CheckConstraint(
                condition=Q(
                    published_at__isnull=True,
                    paper__isnull=True,
                    key__isnull=True,
                    max_points__isnull=True,
                )
                | Q(
                    published_at__isnull=False,
                    paper__isnull=False,
                    key__isnull=False,
                    max_points__isnull=False,
                ),
                name="a_published_revision_is_frozen_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.exam}, revision {self.number}"


class Question(models.Model):
    """One question as it is authored."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    revision = models.ForeignKey(ExamRevision, on_delete=models.CASCADE, related_name="questions")
    position = models.PositiveIntegerField()
    title = models.CharField(max_length=200, blank=True, default="")
    kind = models.CharField(max_length=16, choices=QuestionKind)
    text = models.TextField()
    text_format = models.CharField(
        max_length=8,
        choices=[("plain", "Plain text"), ("html", "HTML"), ("markdown", "Markdown")],
        default="plain",
    )
    points = models.DecimalField(max_digits=7, decimal_places=3, default=1)
    is_case_sensitive = models.BooleanField(default=False)
    feedback = models.TextField(blank=True, default="", db_default="")  # to everybody, whatever they answered

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["revision", "position"],
                name="question_positions_unique",
                deferrable=models.Deferrable.DEFERRED,
            ),
            models.CheckConstraint(condition=Q(points__gt=0), name="questions_points_positive"),
            models.CheckConstraint(condition=Q(kind__in=QuestionKind.values), name="questions_kind_known"),
        ]

    def __str__(self) -> str:
        return self.title or self.text[:60]


class AnswerOption(models.Model):
    """One possible answer and what it is worth, in percent of the question's points.

    choice, true/false, short text: `text`. numeric: the inclusive range `low..high`. matching: `text` goes with
    `match_text` (an option with an empty `text` is a distractor on the right-hand side).
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="options")
    position = models.PositiveIntegerField()
    text = models.TextField(blank=True, default="")
    match_text = models.TextField(blank=True, default="")
    low = models.DecimalField(max_digits=40, decimal_places=15, null=True, blank=True)
    high = models.DecimalField(max_digits=40, decimal_places=15, null=True, blank=True)
    fraction = models.DecimalField(max_digits=8, decimal_places=5, default=0)  # percent, -100 to 100
    feedback = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["question", "position"],
                name="option_positions_unique",
                deferrable=models.Deferrable.DEFERRED,
            ),
            models.CheckConstraint(
                condition=Q(fraction__gte=-100, fraction__lte=100),
                name="options_fraction_is_a_percentage",
            ),
            models.CheckConstraint(
                condition=Q(low__isnull=True, high__isnull=True) | Q(low__lte=models.F("high")),
                name="options_range_is_ordered",
            ),
        ]

    def __str__(self) -> str:
        return self.text or f"{self.low}..{self.high}"
