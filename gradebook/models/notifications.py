"""Notifications in the page: what happened that concerns one person."""

from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7


class Notification(models.Model):
    """One line for one person. Of a topic there is at most one unread: what comes before it is read is counted in `count`."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    recipient = models.ForeignKey(
        "gradebook.User", on_delete=models.CASCADE, related_name="notifications", db_index=False
    )
    topic = models.CharField(max_length=120)
    text = models.CharField(max_length=400)
    address = models.CharField(max_length=200)  # a path on this site
    count = models.PositiveIntegerField(default=1)
    occurred_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["recipient", "topic"],
                condition=Q(read_at__isnull=True),
                name="one_unread_notification_per_topic",
            )
        ]
        indexes = [
            models.Index(fields=["recipient", "-occurred_at"], name="notifications_latest_idx"),
            models.Index(fields=["occurred_at"], name="notifications_age_idx"),
        ]

    def __str__(self) -> str:
        return self.text
