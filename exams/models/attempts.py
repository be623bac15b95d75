"""An attempt: one student's sitting of one revision, with the personal deadline as it stands now.

`closes_at`, `grace_until` and `accepts_until` are computed by `exams.deadlines` at the start and again whenever
an accommodation, extension or the exam's window changes, so that the gate only compares times.
"""

from django.db import models
from django.db.models import F, Q
from uuid_utils.compat import uuid7


class AttemptState(models.TextChoices):
    """Stored states. The API adds `grading`: submitted, and a worker holds its job."""

    OPEN = "open"
    SUBMITTED = "submitted"
    GRADED = "graded"
    NEEDS_MARKING = "needs_marking"
    FAILED = "failed"
    NOT_TAKEN = "not_taken"


class Attempt(models.Model):
    """The row the gate locks. `version` counts its events (subject `attempt:<id>`)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    school_id = models.UUIDField()
    # The unique key of attempt numbers begins with the exam, and nobody looks for attempts by revision: each index more is
    # written again at every submission.
    exam = models.ForeignKey("exams.Exam", on_delete=models.PROTECT, related_name="attempts", db_index=False)
    revision = models.ForeignKey(
        "exams.ExamRevision", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    student = models.ForeignKey("gradebook.User", on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=14, choices=AttemptState, default=AttemptState.OPEN)
    started_at = models.DateTimeField()
    closes_at = models.DateTimeField()
    grace_until = models.DateTimeField()
    accepts_until = models.DateTimeField()
    deadline_rule = models.CharField(max_length=200)
    ended_at = models.DateTimeField(null=True, blank=True)
    failure_reason = models.CharField(max_length=300, blank=True, default="")
    version = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["exam", "student", "number"],
                name="attempt_numbers_unique_per_student",
            ),
            models.UniqueConstraint(
                fields=["exam", "student"],
                condition=Q(state="open"),
                name="one_open_attempt_per_student",
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="attempts_are_numbered_from_one"),
            models.CheckConstraint(condition=Q(state__in=AttemptState.values), name="attempts_state_known"),
            models.CheckConstraint(
                condition=Q(closes_at__lte=F("grace_until")) & Q(grace_until__lte=F("accepts_until")),
                name="attempts_deadlines_ordered",
            ),
        ]
        indexes = [
            models.Index(
                fields=["accepts_until"],
                condition=Q(state="open"),
                name="attempts_overdue_idx",
            ),
            models.Index(fields=["ended_at"], condition=Q(state="submitted"), name="attempts_submitted_idx"),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def key(self) -> str:
        """The natural idempotency key of this attempt's submission: `exam:student:number`."""
        return f"{self.exam_id}:{self.student_id}:{self.number}"


class Draft(models.Model):
    """The last autosave of an open attempt. `token` must be named by the next save: a stale tab is refused."""

    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, primary_key=True, related_name="draft")
    answers = models.TextField()  # canonical JSON, see exams.canonical
    token = models.UUIDField()
    saved_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"draft of {self.attempt_id}"
