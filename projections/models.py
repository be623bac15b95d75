"""Read models. Plain ids, no foreign keys to other apps: any of these tables can be emptied and refilled."""

from django.db import models

from projections.analytics.models import (
    AnalyticsColumn,
    AnalyticsMark,
    AnalyticsResult,
    ColumnCount,
    ColumnExam,
    ExamGroup,
    ItemSum,
    ScoreCount,
)

__all__ = [
    "AnalyticsColumn",
    "AnalyticsMark",
    "AnalyticsResult",
    "BackfillCheckpoint",
    "BackfilledMark",
    "ColumnCount",
    "ColumnExam",
    "ExamGroup",
    "HistoryEntry",
    "ItemSum",
    "MarkHistory",
    "ScoreCount",
    "WholeHistory",
]


class HistoryEntry(models.Model):
    """One line of a mark sheet's history: one change of one cell.

    `pos` alone has no index on purpose: with one, the planner may walk the whole table backwards to find the
    newest lines of a sheet that has been quiet for long.
    """

    event_id = models.UUIDField(primary_key=True)
    pos = models.BigIntegerField()
    school_id = models.UUIDField()
    sheet_id = models.UUIDField()
    column_id = models.UUIDField()
    student_id = models.UUIDField()
    cell_version = models.PositiveIntegerField()
    column_title = models.CharField(max_length=120)
    student_name = models.CharField(max_length=301)
    old_value = models.DecimalField(max_digits=9, decimal_places=3, null=True)
    old_code = models.CharField(max_length=10, blank=True)
    old_source = models.CharField(max_length=10, blank=True)
    new_value = models.DecimalField(max_digits=9, decimal_places=3, null=True)
    new_code = models.CharField(max_length=10, blank=True)
    new_source = models.CharField(max_length=10, blank=True)
    automatic_value = models.DecimalField(max_digits=9, decimal_places=3, null=True)
    reason = models.CharField(max_length=20)
    origin = models.CharField(max_length=160, blank=True, default="", db_default="")
    actor_type = models.CharField(max_length=10)
    actor_id = models.UUIDField(null=True)
    actor_name = models.CharField(max_length=301, blank=True)
    batch_id = models.UUIDField(null=True)
    occurred_at = models.DateTimeField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.student_name}, {self.column_title}: {self.old_value} -> {self.new_value}"


class MarkHistory(HistoryEntry):
    """A line as the event told it; `pos` is the event's position."""

    class Meta:
        verbose_name_plural = "mark history"
        indexes = [
            # Ascending, and read backwards: lines arrive in this order, so its pages are left full and not half full.
            models.Index(fields=["sheet_id", "pos"], name="history_sheet_idx"),
            models.Index(fields=["sheet_id", "column_id", "student_id", "-pos"], name="history_cell_idx"),
        ]


class BackfilledMark(HistoryEntry):
    """A line from before the log, found by comparing two of the old system's copies (ADR 0019).

    `pos` is negative: -1 is the newest of its sheet, so that the two eras are one order. `batch_id` is the copy, `cell_version` 0. It
    stands in a table of its own, because the log cannot fill it again.
    """

    class Meta:
        verbose_name_plural = "backfilled marks"
        constraints = [
            models.CheckConstraint(condition=models.Q(pos__lt=0), name="backfilled_marks_are_before_the_log"),
            models.UniqueConstraint(fields=["sheet_id", "pos"], name="one_backfilled_mark_per_place"),
        ]
        indexes = [
            models.Index(fields=["sheet_id", "column_id", "student_id", "-pos"], name="backfilled_cell_idx"),
        ]


class WholeHistory(HistoryEntry):
    """Both eras as one list: the view a history page reads. The planner merges the two tables' indexes."""

    class Meta:
        managed = False
        db_table = "projections_wholehistory"


class ComparedSheet(models.Model):
    """A sheet that a gate of the cut-over has found right, and the digest of what it was found right of.

    `gate` is the number of the gate's phase. While the digest is still that of what is there, the gate need not read the sheet again.
    """

    gate = models.PositiveSmallIntegerField()
    sheet_id = models.UUIDField()
    digest = models.CharField(max_length=32)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["gate", "sheet_id"], name="one_comparison_per_gate_and_sheet")
        ]

    def __str__(self) -> str:
        return f"{self.sheet_id}, gate {self.gate}: {self.digest}"


class BackfillCheckpoint(models.Model):
    """How far a sheet's copies have been compared: down to this copy, which gave the line at `pos`. Moved in the transaction of its lines.

    `copies` counts those compared; `is_complete` when the oldest was.
    """

    sheet_id = models.UUIDField(primary_key=True)
    copy_created_at = models.DateTimeField()
    copy_id = models.UUIDField()
    pos = models.BigIntegerField()
    copies = models.PositiveIntegerField()
    is_complete = models.BooleanField()

    def __str__(self) -> str:
        return f"{self.sheet_id}: {self.copies} copies, {-self.pos} lines"
