"""What the old system left: whole-class copies of mark sheets, and how far the way out of it has come.

The one thing to know: a copy is never changed and never deleted (a trigger sees to it), and from the last phase on none is added.
"""

from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7

from outbox.models.fields import ClockTimestamp


class MarkSnapshot(models.Model):
    """A whole mark sheet as it was after one change.

    `cells` is `{student: {column: {"value": "7.5", "source": "teacher"}}}`, with `code` where there is no number and neither where the
    cell was cleared; a cell that never held anything is not in it. `layout` names its columns, categories and students as they were called then.
    `batch_id` is that of the events the copy was written beside; a copy from before the log has none: that is the cut-off.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    school_id = models.UUIDField()
    sheet = models.ForeignKey(
        "gradebook.MarkSheet", on_delete=models.PROTECT, related_name="snapshots", db_index=False
    )
    action = models.CharField(max_length=20)
    created_at = models.DateTimeField()
    created_by_id = models.UUIDField(null=True)
    created_by_name = models.CharField(max_length=301, blank=True)
    batch_id = models.UUIDField(null=True)
    layout = models.JSONField()
    cells = models.JSONField()

    class Meta:
        indexes = [models.Index(fields=["sheet", "created_at", "id"], name="snapshots_walk_idx")]

    def __str__(self) -> str:
        return f"{self.sheet_id} at {self.created_at}"


class Cutover(models.Model):
    """Where the way from the copies to the log has come to. One row; none where there never was an old system.

    `version` counts the steps; each is a `CutoverMoved` in the log.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    phase = models.PositiveSmallIntegerField()
    version = models.PositiveIntegerField(default=1)
    started_at = models.DateTimeField(db_default=ClockTimestamp())
    moved_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="there_is_one_cutover"),
            models.CheckConstraint(condition=Q(phase__range=(1, 6)), name="cutover_phase_known"),
        ]

    def __str__(self) -> str:
        return f"phase {self.phase}"
