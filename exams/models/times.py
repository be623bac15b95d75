"""What moves one student's deadline: accommodations that always hold, extensions given for one exam."""

from decimal import Decimal

from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7


class Accommodation(models.Model):
    """A student's standing right to more working time, as a factor on the time limit (1.5 = half as long again)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    student = models.OneToOneField("gradebook.User", on_delete=models.PROTECT, related_name="accommodation")
    extra_time_factor = models.DecimalField(max_digits=4, decimal_places=2, default=Decimal("1.00"))
    note = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(extra_time_factor__gte=1, extra_time_factor__lte=10),
                name="extra_time_factor_is_sane",
                violation_error_message="A factor is between 1 and 10: 1.5 means half as long again.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.student}: x {self.extra_time_factor}"


class ExtensionKind(models.TextChoices):
    """Minutes are elapsed time; calendar days keep the wall-clock hour in the school's zone over a clock change."""

    MINUTES = "minutes"
    CALENDAR_DAYS = "calendar_days"


class Extension(models.Model):
    """More time for one exam: for one student, for one class, or (both empty) for everybody."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    exam = models.ForeignKey("exams.Exam", on_delete=models.PROTECT, related_name="extensions")
    student = models.ForeignKey(
        "gradebook.User",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="extensions",
    )
    school_class = models.ForeignKey(
        "gradebook.SchoolClass",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    kind = models.CharField(max_length=14, choices=ExtensionKind)
    amount = models.PositiveIntegerField()
    reason = models.CharField(max_length=200)
    granted_by = models.ForeignKey("gradebook.User", on_delete=models.PROTECT, related_name="+")
    granted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(student__isnull=True) | Q(school_class__isnull=True),
                name="an_extension_is_for_one_or_all",
                violation_error_message="An extension is for one student, for one class, or (neither named) for everybody.",
            ),
            models.CheckConstraint(
                condition=Q(amount__gt=0),
                name="extensions_add_time",
                violation_error_message="An extension adds time.",
            ),
            models.CheckConstraint(
                condition=Q(amount__lte=100_000),
                name="extensions_stay_in_the_calendar",
                violation_error_message="An extension is at most 100,000 minutes or days.",
            ),
        ]

    def __str__(self) -> str:
        return (
            f"+{self.amount} {self.get_kind_display()} for {self.student or self.school_class or 'everybody'}"
        )
