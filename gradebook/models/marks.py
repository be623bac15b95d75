"""Mark sheets, their columns and the marks in them.

A mark is one row per column and student. Blank, zero, a code and "no row yet" are told apart:
a cleared mark is a row with neither value nor code, and clearing is an event like any other change.
"""

import unicodedata
from typing import Final

from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7

from outbox.models.fields import CurrentTransactionId, Xid8Field


class MarkCode(models.TextChoices):
    """Why there is no number. Blank is not zero, and none of these is zero either."""

    ABSENT = "absent"
    EXCUSED = "excused"
    MISSING = "missing"
    EXEMPT = "exempt"
    WITHHELD = "withheld"


class MarkSource(models.TextChoices):
    """Whose mark it is: a teacher's own mark wins over an automatic one."""

    TEACHER = "teacher"
    AUTOMATIC = "automatic"


class ColumnSource(models.TextChoices):
    """Where a column's marks come from."""

    MANUAL = "manual"
    EXAM = "exam"


class MarkSheet(models.Model):
    """The marks of one class in one course and period."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    school = models.ForeignKey("gradebook.School", on_delete=models.PROTECT)
    period = models.ForeignKey("gradebook.Period", on_delete=models.PROTECT)
    course = models.ForeignKey("gradebook.Course", on_delete=models.PROTECT)
    school_class = models.ForeignKey("gradebook.SchoolClass", on_delete=models.PROTECT)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["school", "period", "course", "school_class"],
                name="one_sheet_per_class_course_and_period",
            )
        ]

    def __str__(self) -> str:
        return f"{self.course}, {self.school_class}, {self.period}"


STUDENT_HEAD: Final = "username"  # heads the students in a file of marks, so no column is called that


def fold_title(title: str) -> str:
    """Return what makes two titles one: case, blanks and the way an accent is stored do not count, as in the header of a file."""
    return unicodedata.normalize("NFC", " ".join(title.split()).casefold())


class Column(models.Model):
    """One assessment in a sheet. `source_id` names the exam that posts into it, if one does."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    sheet = models.ForeignKey(MarkSheet, on_delete=models.PROTECT, related_name="columns")
    title = models.CharField(max_length=120)
    max_points = models.DecimalField(max_digits=9, decimal_places=3)
    position = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=1)
    source = models.CharField(max_length=10, choices=ColumnSource, default=ColumnSource.MANUAL)
    source_id = models.UUIDField(null=True, blank=True)
    category = models.ForeignKey(
        "gradebook.Category", on_delete=models.SET_NULL, null=True, blank=True, related_name="columns"
    )
    is_bonus = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["sheet", "title"], name="column_titles_unique_in_sheet"),
            models.UniqueConstraint(fields=["sheet", "source_id"], name="one_column_per_source_in_sheet"),
            models.CheckConstraint(condition=Q(max_points__gt=0), name="columns_max_points_positive"),
            models.CheckConstraint(
                condition=Q(source="manual", source_id__isnull=True)
                | Q(source="exam", source_id__isnull=False),
                name="a_linked_column_names_its_source",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class Mark(models.Model):
    """One cell. `version` counts its events; `shown_version` is the one that last changed what the cell shows.

    A save must be based on `shown_version` or later. `automatic_value` is the latest result the machine found for this
    cell; it stays beside a teacher's own mark and never replaces it. `changed_xid` is the transaction of the last change:
    a page that knows the snapshot it was read at finds with it exactly what it has not seen (`queries.list_changes`).
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    school_id = models.UUIDField()
    sheet = models.ForeignKey(MarkSheet, on_delete=models.PROTECT, related_name="marks")
    column = models.ForeignKey(Column, on_delete=models.PROTECT, related_name="marks")
    student = models.ForeignKey("gradebook.User", on_delete=models.PROTECT, related_name="marks")
    value = models.DecimalField(max_digits=9, decimal_places=3, null=True, blank=True)
    code = models.CharField(max_length=10, choices=MarkCode, blank=True, default="")
    source = models.CharField(max_length=10, choices=MarkSource)
    automatic_value = models.DecimalField(max_digits=9, decimal_places=3, null=True, blank=True)
    automatic_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField()
    shown_version = models.PositiveIntegerField()
    changed_xid = Xid8Field(db_default=CurrentTransactionId(), editable=False)
    updated_at = models.DateTimeField()
    updated_by = models.ForeignKey("gradebook.User", on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sheet", "column", "student"], name="one_mark_per_cell"),
            models.CheckConstraint(
                condition=Q(value__isnull=True) | Q(code=""),
                name="a_value_or_a_code_never_both",
            ),
            models.CheckConstraint(
                condition=Q(value__isnull=True) | Q(value__gte=0),
                name="marks_not_negative",
            ),
            models.CheckConstraint(condition=Q(code__in=["", *MarkCode.values]), name="marks_code_known"),
            models.CheckConstraint(condition=Q(source__in=MarkSource.values), name="marks_source_known"),
            models.CheckConstraint(
                condition=Q(shown_version__lte=models.F("version")), name="marks_shown_version_is_a_version"
            ),
            models.CheckConstraint(
                condition=Q(source="automatic") | Q(updated_by__isnull=False),
                name="a_teachers_mark_names_its_teacher",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.column} / {self.student}: {self.code or self.value}"
