"""How marks become totals: categories with weights, what codes mean, letters; and the totals as they were last worked out.

The one thing to know: what was typed is what is stored and shown. Weights have up to four decimals and need not add up to anything.
"""

from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7


class Treatment(models.TextChoices):
    """What a mark that is no number does to a total."""

    ZERO = "zero", "counts as 0"
    LEFT_OUT = "left_out", "is left out"


class TotalState(models.TextChoices):
    """Whether there is a total."""

    RESULT = "result"
    NONE = "none"  # nothing to count, which is not 0
    WITHHELD = "withheld"


class TotalCause(models.TextChoices):
    """Why a total moved."""

    FIRST = "first", "worked out for the first time"
    MARKS = "marks", "marks changed"
    SCHEME = "scheme", "columns, weights or rules changed"


class LetterScale(models.Model):
    """A school's scale of letters."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    school = models.ForeignKey("gradebook.School", on_delete=models.PROTECT)
    name = models.CharField(max_length=60)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["school", "name"], name="scale_names_unique_in_school")
        ]

    def __str__(self) -> str:
        return self.name


class LetterStep(models.Model):
    """A letter, from a least percentage on."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    scale = models.ForeignKey(LetterScale, on_delete=models.CASCADE, related_name="steps")
    letter = models.CharField(max_length=10)
    least_percent = models.DecimalField(max_digits=5, decimal_places=2)

    class Meta:
        ordering = ["-least_percent"]
        constraints = [
            models.UniqueConstraint(fields=["scale", "letter"], name="letters_unique_in_scale"),
            models.UniqueConstraint(
                fields=["scale", "least_percent"], name="one_letter_from_a_percentage_on"
            ),
            models.CheckConstraint(condition=Q(least_percent__gte=0), name="letters_from_zero_on"),
        ]

    def __str__(self) -> str:
        return f"{self.letter} from {self.least_percent}"


class Scheme(models.Model):
    """A sheet's rules for totals. A sheet without one has the defaults of `gradebook.totals`."""

    sheet = models.OneToOneField(
        "gradebook.MarkSheet", on_delete=models.PROTECT, primary_key=True, related_name="scheme"
    )
    version = models.PositiveIntegerField(default=1)
    absent = models.CharField(max_length=10, choices=Treatment, default=Treatment.ZERO)
    missing = models.CharField(max_length=10, choices=Treatment, default=Treatment.ZERO)
    blank = models.CharField(max_length=10, choices=Treatment, default=Treatment.LEFT_OUT)
    scale = models.ForeignKey(LetterScale, on_delete=models.PROTECT, null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    absent__in=Treatment.values, missing__in=Treatment.values, blank__in=Treatment.values
                ),
                name="schemes_treatments_known",
            )
        ]

    def __str__(self) -> str:
        return f"Totals of {self.sheet}"


class Category(models.Model):
    """A part of a sheet's total, such as Tests 60."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    sheet = models.ForeignKey("gradebook.MarkSheet", on_delete=models.PROTECT, related_name="categories")
    name = models.CharField(max_length=60)
    weight = models.DecimalField(max_digits=9, decimal_places=4)
    drop_lowest = models.PositiveSmallIntegerField(default=0)
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["position", "id"]
        verbose_name_plural = "categories"
        constraints = [
            models.UniqueConstraint(fields=["sheet", "name"], name="category_names_unique_in_sheet"),
            models.CheckConstraint(condition=Q(weight__gte=0), name="weights_not_negative"),
        ]

    def __str__(self) -> str:
        return self.name


class StoredTotal(models.Model):
    """A student's total in a sheet as it was last found to have moved, and why it did."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    sheet = models.ForeignKey("gradebook.MarkSheet", on_delete=models.PROTECT, related_name="totals")
    student = models.ForeignKey("gradebook.User", on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=10, choices=TotalState)
    percent = models.DecimalField(max_digits=9, decimal_places=2, null=True)
    letter = models.CharField(max_length=10, blank=True)
    before = models.DecimalField(max_digits=9, decimal_places=2, null=True)
    cause = models.CharField(max_length=10, choices=TotalCause)
    rules_digest = models.CharField(max_length=16)
    moved_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sheet", "student"], name="one_total_per_student_and_sheet"),
            models.CheckConstraint(
                condition=Q(state="result", percent__isnull=False)
                | Q(state__in=["none", "withheld"], percent__isnull=True),
                name="a_total_has_a_percentage_or_says_why_not",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.student} in {self.sheet}: {self.percent if self.percent is not None else self.state}"
