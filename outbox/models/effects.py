"""Receipts of effects, and which planned moment of periodic work was done by somebody."""

from django.db import models
from django.db.models import Q

from outbox.models.fields import ClockTimestamp


class EffectState(models.TextChoices):
    """How far an effect is. `trying` ends by itself at `due_at`: whoever had it is dead or far too slow.

    `failed` waits for an operator. `refused` waits for nobody: what came cannot be used, or it is for nobody any more.
    """

    PENDING = "pending"
    TRYING = "trying"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"


class EffectReceipt(models.Model):
    """One effect of one event for one target. A second delivery finds the first one's receipt here."""

    event_id = models.UUIDField()
    effect = models.CharField(max_length=60)
    target = models.CharField(max_length=60, blank=True, default="", db_default="")
    pos = models.BigIntegerField()
    state = models.CharField(
        max_length=7, choices=EffectState, default=EffectState.PENDING, db_default=EffectState.PENDING
    )
    tries = models.PositiveSmallIntegerField(default=0, db_default=0)
    due_at = models.DateTimeField(db_default=ClockTimestamp())  # from when on it may be tried (again)
    resend_at = models.DateTimeField(db_default=ClockTimestamp())  # when its message has to be sent (again)
    lease_id = models.UUIDField(null=True)
    error = models.TextField(blank=True, default="", db_default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["event_id", "effect", "target"], name="one_receipt_per_effect"),
            models.CheckConstraint(condition=Q(state__in=EffectState.values), name="effects_state_known"),
            models.CheckConstraint(
                condition=Q(state__in=["done", "failed", "refused"], ended_at__isnull=False)
                | Q(state__in=["pending", "trying"], ended_at__isnull=True),
                name="effects_end_when_they_end",
            ),
            models.CheckConstraint(
                condition=~Q(state="trying") | Q(lease_id__isnull=False), name="effects_are_tried_by_somebody"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(state="pending"), name="effects_pending_idx"),
            models.Index(
                fields=["effect", "target", "due_at"], condition=Q(state="trying"), name="effects_trying_idx"
            ),
            models.Index(
                fields=["resend_at"], condition=Q(state__in=["pending", "trying"]), name="effects_resend_idx"
            ),
            models.Index(fields=["ended_at"], condition=Q(state="failed"), name="effects_failed_idx"),
            models.Index(fields=["ended_at"], condition=Q(state="refused"), name="effects_refused_idx"),
            models.Index(fields=["ended_at"], condition=Q(state="done"), name="effects_done_idx"),
        ]

    def __str__(self) -> str:
        return f"{self.effect} of {self.event_id}: {self.state}"


class PlannedMoment(models.Model):
    """A moment at which periodic work was planned. Whoever makes the row does the work; everybody else leaves it."""

    work = models.CharField(max_length=60)
    planned_at = models.DateTimeField()
    claimed_at = models.DateTimeField(db_default=ClockTimestamp())
    finished_at = models.DateTimeField(null=True)
    done = models.PositiveIntegerField(null=True)
    error = models.TextField(blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["work", "planned_at"], name="a_moment_is_claimed_once")
        ]

    def __str__(self) -> str:
        return f"{self.work} at {self.planned_at}"
