"""Signs of life of the long-running processes, read by /healthz and the operators' pages; and what one may have died of."""

from django.db import models

from outbox.models.fields import ClockTimestamp


class Heartbeat(models.Model):
    """One process incarnation (never a host name): who it is, what it does, when it was last seen."""

    incarnation = models.UUIDField(primary_key=True)
    role = models.CharField(max_length=60)  # "worker", "sequencer", "consumer:marksheet_history", "sweeper"
    pid = models.PositiveIntegerField()
    host = models.CharField(max_length=255)
    started_at = models.DateTimeField(db_default=ClockTimestamp())
    seen_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        indexes = [models.Index(fields=["role", "seen_at"], name="heartbeats_role_idx")]

    def __str__(self) -> str:
        return f"{self.role} {self.pid}@{self.host}"


class AnnouncedEvent(models.Model):
    """The event a consumer tries alone, written down before it is tried: a process it kills can write nothing afterwards.

    `tries` counts the processes that announced it. One row a consumer, overwritten by the next event (`outbox.consumers.careful`).
    """

    consumer = models.CharField(max_length=60, primary_key=True)
    pos = models.BigIntegerField()
    tries = models.PositiveSmallIntegerField()

    def __str__(self) -> str:
        return f"{self.consumer}: {self.pos} ({self.tries})"
