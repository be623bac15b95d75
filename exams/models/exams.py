"""An exam: when it may be sat, by whom, how often, and which attempt counts."""

from datetime import timedelta
from typing import Final

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from uuid_utils.compat import uuid7

# Typing errors stop here: beyond these the database or the arithmetic of deadlines leaves the calendar.
FIRST_YEAR: Final = 2000
LAST_YEAR: Final = 2199
LONGEST_TIME_LIMIT: Final = timedelta(days=14)
MOST_SECONDS_AFTER: Final = 30 * 24 * 60 * 60


class CountingAttempt(models.TextChoices):
    """Which attempt's score is posted to the mark sheet."""

    BEST = "best"
    LAST = "last"
    AVERAGE = "average"


class Exam(models.Model):
    """What stays the same over revisions. `grace_seconds` count as on time, `late_seconds` after that as late."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    school = models.ForeignKey("gradebook.School", on_delete=models.PROTECT)
    course = models.ForeignKey("gradebook.Course", on_delete=models.PROTECT)
    period = models.ForeignKey("gradebook.Period", on_delete=models.PROTECT)
    title = models.CharField(max_length=200)
    opens_at = models.DateTimeField()
    closes_at = models.DateTimeField()
    time_limit = models.DurationField(null=True, blank=True)
    grace_seconds = models.PositiveIntegerField(default=0)
    late_seconds = models.PositiveIntegerField(default=0)
    attempts_allowed = models.PositiveSmallIntegerField(default=1)
    counting_attempt = models.CharField(max_length=8, choices=CountingAttempt, default=CountingAttempt.BEST)
    scores_released_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(closes_at__gt=F("opens_at")),
                name="exams_close_after_they_open",
                violation_error_message="An exam closes after it opens.",
            ),
            models.CheckConstraint(
                condition=Q(attempts_allowed__gte=1),
                name="exams_allow_an_attempt",
                violation_error_message="At least one attempt must be allowed.",
            ),
            models.CheckConstraint(
                condition=Q(time_limit__isnull=True) | Q(time_limit__gt=timedelta(0)),
                name="exams_time_limit_positive",
                violation_error_message="A time limit is longer than nothing; leave it empty for none.",
            ),
        ]

        indexes = [
            models.Index(
                fields=["scores_released_at"],
                condition=Q(scores_released_at__isnull=False),
                name="exams_released_idx",
            )
        ]

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        """Refuse times that nobody means."""
        faults = {}
        for name in ("opens_at", "closes_at", "scores_released_at"):
            moment = getattr(self, name)
            if moment is not None and not FIRST_YEAR <= moment.year <= LAST_YEAR:
                faults[name] = f"A year from {FIRST_YEAR} to {LAST_YEAR}."
        for name in ("grace_seconds", "late_seconds"):
            if (getattr(self, name) or 0) > MOST_SECONDS_AFTER:
                faults[name] = f"At most {MOST_SECONDS_AFTER:,} seconds, which is 30 days."
        if self.time_limit is not None and self.time_limit > LONGEST_TIME_LIMIT:
            faults["time_limit"] = f"A time limit is at most {LONGEST_TIME_LIMIT.days} days."
        if faults:
            raise ValidationError(faults)


class ScoreRelease(models.Model):
    """A release of an exam's scores that the log speaks of. A time that is moved is another release."""

    exam = models.ForeignKey(Exam, on_delete=models.CASCADE, related_name="releases", db_index=False)
    released_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["exam", "released_at"], name="a_release_is_said_once"),
        ]

    def __str__(self) -> str:
        return f"{self.exam}, {self.released_at}"


class ExamTarget(models.Model):
    """A class that sits the exam, and the column its results are posted to (none: not posted)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    exam = models.ForeignKey(Exam, on_delete=models.CASCADE, related_name="targets")
    school_class = models.ForeignKey("gradebook.SchoolClass", on_delete=models.PROTECT, related_name="+")
    column = models.ForeignKey(
        "gradebook.Column",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["exam", "school_class"],
                name="a_class_is_targeted_once",
                violation_error_message="This class sits the exam already.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.exam} for {self.school_class}"
