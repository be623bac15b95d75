"""Read models. Plain ids, no foreign keys to other apps: any of these tables can be emptied and refilled."""

from django.db import models


class MarkHistory(models.Model):
    """One line of a mark sheet's history: one change of one cell, as the event told it.

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
    actor_type = models.CharField(max_length=10)
    actor_id = models.UUIDField(null=True)
    actor_name = models.CharField(max_length=301, blank=True)
    batch_id = models.UUIDField(null=True)
    occurred_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "mark history"
        indexes = [
            models.Index(fields=["sheet_id", "-pos"], name="history_sheet_idx"),
            models.Index(fields=["sheet_id", "column_id", "student_id", "-pos"], name="history_cell_idx"),
        ]

    def __str__(self) -> str:
        return f"{self.student_name}, {self.column_title}: {self.old_value} -> {self.new_value}"
