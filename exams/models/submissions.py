"""What was handed in and what came of it. A submission is immutable (a trigger refuses to change one)."""

from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7


class Decision(models.TextChoices):
    """How the deadline was judged, at arrival, by the database's clock."""

    ON_TIME = "on_time"
    GRACE = "grace"
    LATE = "late"
    CLOSED_BY_SERVER = "closed_by_server"


class Origin(models.TextChoices):
    """Who ended the attempt: the student's Submit, or the server from the last draft."""

    STUDENT = "student"
    SERVER = "server"


class Submission(models.Model):
    """The answers as accepted: exactly the bytes whose SHA-256 the receipt signs.

    Only `withdrawn_at` may ever be set later, and only on one made by the server, when an extension reopens the
    attempt. Ids of the exam, student and revision are copies of the attempt's, so that hot reads need no join.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    school_id = models.UUIDField()
    exam_id = models.UUIDField()
    attempt = models.ForeignKey(
        "exams.Attempt",
        on_delete=models.PROTECT,
        related_name="submissions",
        db_index=False,
    )
    student_id = models.UUIDField()
    revision_id = models.UUIDField()
    exam_revision = models.PositiveIntegerField()
    attempt_key = models.CharField(max_length=120)
    answers = models.TextField()  # canonical JSON, see exams.canonical
    payload_sha256 = models.CharField(max_length=64)
    accepted_at = models.DateTimeField()
    deadline = models.DateTimeField()
    decision = models.CharField(max_length=18, choices=Decision)
    decision_rule = models.CharField(max_length=200)
    origin = models.CharField(max_length=8, choices=Origin, default=Origin.STUDENT)
    receipt_key_id = models.CharField(max_length=40)
    event_id = models.UUIDField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["attempt"],
                condition=Q(withdrawn_at__isnull=True),
                name="one_submission_per_attempt",
            ),
            models.CheckConstraint(
                condition=Q(decision__in=Decision.values),
                name="submissions_decision_known",
            ),
            models.CheckConstraint(
                condition=Q(withdrawn_at__isnull=True) | Q(origin="server"),
                name="only_the_servers_submission_is_withdrawn",
            ),
        ]
        indexes = [models.Index(fields=["student_id", "accepted_at"], name="submissions_student_idx")]

    def __str__(self) -> str:
        return self.attempt_key


class ResultState(models.TextChoices):
    """How grading ended."""

    GRADED = "graded"
    NEEDS_MARKING = "needs_marking"
    FAILED = "failed"


class Result(models.Model):
    """What grading found, per question. One per submission; a regrade raises `version`."""

    submission = models.OneToOneField(
        Submission, on_delete=models.PROTECT, primary_key=True, related_name="result"
    )
    school_id = models.UUIDField()
    exam_id = models.UUIDField()
    attempt_id = models.UUIDField()
    state = models.CharField(max_length=14, choices=ResultState)
    score = models.DecimalField(max_digits=9, decimal_places=3, null=True, blank=True)
    max_points = models.DecimalField(max_digits=9, decimal_places=3, null=True, blank=True)
    breakdown = models.JSONField(default=dict)
    reason = models.CharField(max_length=300, blank=True, default="")
    version = models.PositiveIntegerField(default=1)
    graded_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=ResultState.values), name="results_state_known"),
            models.CheckConstraint(
                condition=Q(state="failed", score__isnull=True)
                | (~Q(state="failed") & Q(score__isnull=False)),
                name="a_result_has_a_score_or_a_failure",
            ),
        ]
        indexes = [
            models.Index(fields=["attempt_id"], name="results_attempt_idx"),
            models.Index(fields=["exam_id"], name="results_exam_idx"),
        ]

    def __str__(self) -> str:
        return f"{self.state} {self.score}/{self.max_points}"
