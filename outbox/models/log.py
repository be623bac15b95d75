"""The event log: what happened, in which order it may be read, and the proof that nobody changed it.

Three append-only tables. `Event` is written by whoever changes state, in the same transaction. `EventPosition`
and `Tick` are written by the sequencer alone; readers order by position and by nothing else. Why two numbers:
`seq` is taken at insert and becomes visible out of order, `pos` is dense and visible in order (ADR 0001).
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from outbox.models.fields import ClockTimestamp, CurrentTransactionId, Xid8Field


class ActorType(models.TextChoices):
    """What kind of actor caused an event, so that history never has an empty "who"."""

    PERSON = "person"
    WORKER = "worker"
    IMPORT = "import"
    POLICY = "policy"


class Event(models.Model):
    """One immutable fact. `subject` + `subject_version` name the cell or attempt and its own order."""

    seq = models.BigAutoField(primary_key=True)  # GENERATED ALWAYS, cache 1: outbox/migrations/0002
    event_id = models.UUIDField(unique=True)
    xid = Xid8Field(db_default=CurrentTransactionId(), editable=False)
    tenant_id = models.UUIDField(null=True)
    kind = models.CharField(max_length=60)
    schema_version = models.PositiveSmallIntegerField(default=1, db_default=1)
    subject = models.CharField(max_length=120)
    subject_version = models.PositiveIntegerField()
    actor_type = models.CharField(max_length=10, choices=ActorType)
    actor_id = models.UUIDField(null=True)
    batch_id = models.UUIDField(null=True)
    cause_id = models.UUIDField(null=True)
    correlation_id = models.UUIDField(null=True)
    occurred_at = models.DateTimeField(db_default=ClockTimestamp())
    payload = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["subject", "subject_version"],
                name="one_event_per_subject_version",
            ),
            models.CheckConstraint(
                condition=~Q(actor_type="person") | Q(actor_id__isnull=False),
                name="a_person_is_named",
            ),
            models.CheckConstraint(
                condition=Q(actor_type__in=ActorType.values),
                name="events_actor_type_known",
            ),
        ]
        indexes = [models.Index(fields=["xid"], name="events_xid_idx")]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject} v{self.subject_version}"


class EventPosition(models.Model):
    """The dense position of one event, with the digest of the event as it was when it was numbered."""

    pos = models.BigIntegerField(primary_key=True)
    seq = models.BigIntegerField(unique=True)
    digest = models.BinaryField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pos__gt=0), name="positions_start_at_one")]

    def __str__(self) -> str:
        return f"{self.pos} = seq {self.seq}"


class Tick(models.Model):
    """One pass of the sequencer: the snapshot it numbered up to. Its key is the fence between two passes."""

    tick_id = models.BigIntegerField(primary_key=True)
    epoch = models.PositiveIntegerField(default=0, db_default=0)
    shard = models.PositiveSmallIntegerField(default=0, db_default=0)
    first_pos = models.BigIntegerField()
    last_pos = models.BigIntegerField()
    # Events up to this sequence number were there before the epoch began: their transaction ids may be another cluster's.
    seq_floor = models.BigIntegerField(default=0, db_default=0)
    snapshot_xmax = Xid8Field()
    snapshot_xip = ArrayField(Xid8Field())
    digest = models.BinaryField()
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(last_pos__gte=F("first_pos") - 1),
                name="ticks_positions_ordered",
            ),
        ]
        indexes = [models.Index(fields=["last_pos"], name="ticks_last_pos_idx")]

    def __str__(self) -> str:
        return f"tick {self.tick_id} up to {self.last_pos}"
