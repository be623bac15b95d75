"""The tables of `analytics`: what each cell and attempt contributes now, and the counts and sums over them.

Every key follows from the events, and every number has a fixed scale, so that two fillings are equal row by row and byte by byte.
"""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


def _points(**options: Any) -> models.DecimalField[Any, Any]:
    """Return a column of points."""
    return models.DecimalField(max_digits=9, decimal_places=3, **options)


def _sum() -> models.DecimalField[Any, Any]:
    """Return a column of sums of points, or of products of two: exact."""
    return models.DecimalField(max_digits=30, decimal_places=6)


class AnalyticsMark(models.Model):
    """What one cell contributes to its column's figures now. A blank one stays, so that a change met again is known to be old."""

    pk = models.CompositePrimaryKey("column_id", "student_id")
    column_id = models.UUIDField()
    student_id = models.UUIDField()
    pos = models.BigIntegerField()
    value = _points(null=True)
    code = models.CharField(max_length=10, blank=True)

    def __str__(self) -> str:
        return f"{self.code or self.value} at {self.pos}"


class ColumnCount(models.Model):
    """How many cells of a column show the same: a mark, or a code (its `value` is 0). A count that falls to 0 is deleted.

    A count is added to where it is, and what is added may be negative: a check of the sign would refuse it before it is added.
    """

    pk = models.CompositePrimaryKey("column_id", "code", "value")
    column_id = models.UUIDField()
    code = models.CharField(max_length=10, blank=True)
    value = _points()
    number = models.IntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["column_id"], condition=Q(number=0), name="column_counts_empty_idx"),
        ]

    def __str__(self) -> str:
        return f"{self.number} of {self.code or self.value}"


class AnalyticsColumn(models.Model):
    """What a column said of itself last; without a title, that it was removed."""

    column_id = models.UUIDField(primary_key=True)
    sheet_id = models.UUIDField()
    pos = models.BigIntegerField()
    title = models.CharField(max_length=120)
    max_points = _points()

    class Meta:
        indexes = [models.Index(fields=["sheet_id"], name="analytics_columns_sheet_idx")]

    def __str__(self) -> str:
        return self.title


class ColumnExam(models.Model):
    """The exam whose results were posted to a column: the same for ever."""

    column_id = models.UUIDField(primary_key=True)
    exam_id = models.UUIDField()

    def __str__(self) -> str:
        return f"{self.column_id} of {self.exam_id}"


class AnalyticsResult(models.Model):
    """What one attempt contributes to its exam's figures now: nothing while `score` is empty (it waits for a person, or was reopened)."""

    attempt_id = models.UUIDField(primary_key=True)
    exam_id = models.UUIDField()
    pos = models.BigIntegerField()
    classes = ArrayField(models.UUIDField())
    score = _points(null=True)
    max_points = _points(null=True)
    revision = models.PositiveIntegerField(null=True)
    points = ArrayField(_points())
    out_of = ArrayField(_points())

    def __str__(self) -> str:
        return f"{self.score}/{self.max_points} at {self.pos}"


class ScoreCount(models.Model):
    """How many attempts at an exam have one score, in a group: a class, or everybody (the exam's own id)."""

    pk = models.CompositePrimaryKey("exam_id", "group_id", "max_points", "score")
    exam_id = models.UUIDField()
    group_id = models.UUIDField()
    max_points = _points()
    score = _points()
    number = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["exam_id"], condition=Q(number=0), name="score_counts_empty_idx")]

    def __str__(self) -> str:
        return f"{self.number} of {self.score}/{self.max_points}"


class ItemSum(models.Model):
    """Sums over the attempts of a group, for the question in one place of one revision: x is its points, t the whole score."""

    pk = models.CompositePrimaryKey("exam_id", "group_id", "revision", "place", "out_of")
    exam_id = models.UUIDField()
    group_id = models.UUIDField()
    revision = models.PositiveIntegerField()
    place = models.PositiveIntegerField()
    out_of = _points()
    number = models.IntegerField()
    x = _sum()
    xx = _sum()
    xt = _sum()
    t = _sum()
    tt = _sum()

    class Meta:
        indexes = [models.Index(fields=["exam_id"], condition=Q(number=0), name="item_sums_empty_idx")]

    def __str__(self) -> str:
        return f"revision {self.revision}, question {self.place}"


class ExamGroup(models.Model):
    """What an exam, or a class that sat it, was called last. The exam itself is the group with its own id."""

    pk = models.CompositePrimaryKey("exam_id", "group_id")
    exam_id = models.UUIDField()
    group_id = models.UUIDField()
    pos = models.BigIntegerField()
    name = models.CharField(max_length=200)

    def __str__(self) -> str:
        return self.name
