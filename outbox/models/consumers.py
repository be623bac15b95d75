"""Who reads the log, how far each has come, and what it had to set aside."""

from django.db import models
from django.db.models import Q

from outbox.models.fields import ClockTimestamp


class ConsumerState(models.TextChoices):
    """What the consumer is doing; `paused` is set by a person."""

    RUNNING = "running"
    PAUSED = "paused"
    REBUILDING = "rebuilding"


class Consumer(models.Model):
    """One row per consumer: its cursor `(epoch, shard, position)`, locked for the length of a batch.

    `is_filling` from the moment its tables were emptied until the cursor has met the head: paused or not, they are not complete.
    """

    name = models.CharField(max_length=60, primary_key=True)
    epoch = models.PositiveIntegerField(default=0, db_default=0)
    shard = models.PositiveSmallIntegerField(default=0, db_default=0)
    generation = models.PositiveIntegerField(default=1, db_default=1)
    position = models.BigIntegerField(default=0, db_default=0)
    state = models.CharField(
        max_length=12, choices=ConsumerState, default=ConsumerState.RUNNING, db_default=ConsumerState.RUNNING
    )
    is_filling = models.BooleanField(default=False, db_default=False)
    staleness_budget = models.DurationField()
    heartbeat_at = models.DateTimeField(null=True)
    advanced_at = models.DateTimeField(null=True)
    failing_pos = models.BigIntegerField(null=True)
    failing_tries = models.PositiveSmallIntegerField(default=0, db_default=0)
    failing_error = models.TextField(blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(position__gte=0), name="consumers_position_not_negative"),
            models.CheckConstraint(
                condition=Q(state__in=ConsumerState.values),
                name="consumers_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} at {self.position}"


class ParkedSubject(models.Model):
    """A subject whose event failed three times: its later events wait here, every other subject flows."""

    consumer = models.ForeignKey(Consumer, on_delete=models.CASCADE, related_name="parked_subjects")
    subject = models.CharField(max_length=120)
    error = models.TextField()
    tries = models.PositiveSmallIntegerField()
    parked_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["consumer", "subject"], name="one_parking_place_per_subject")
        ]

    def __str__(self) -> str:
        return f"{self.consumer_id}: {self.subject}"


class ParkedEvent(models.Model):
    """One event that waits for its parked subject to be released; replayed in order of position."""

    parked_subject = models.ForeignKey(ParkedSubject, on_delete=models.CASCADE, related_name="events")
    pos = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["parked_subject", "pos"], name="an_event_is_parked_once")
        ]

    def __str__(self) -> str:
        return f"position {self.pos}"
