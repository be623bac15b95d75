"""Where other systems want to be told of events, and every try of telling them."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7

from outbox.models.fields import ClockTimestamp


class WebhookEndpoint(models.Model):
    """An address that is told of some kinds of event of one tenant, or of all when it names none. It knows us by `secret`.

    After a change it knows us by `old_secret` too, until `old_secret_until`. While it fails it is called for one delivery at a time, and not
    before `rests_until`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.UUIDField(
        null=True, blank=True, help_text="The school whose events it is told of; empty: of all schools."
    )
    url = models.URLField("address", max_length=500)
    kinds = ArrayField(models.CharField(max_length=60), help_text="The kinds of event it is told of.")
    secret = models.CharField(max_length=120, editable=False)
    old_secret = models.CharField(max_length=120, blank=True, default="", db_default="", editable=False)
    old_secret_until = models.DateTimeField(null=True, editable=False)
    description = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    failures_in_a_row = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    first_failure_at = models.DateTimeField(null=True, editable=False)
    rests_until = models.DateTimeField(null=True, editable=False)
    disabled_at = models.DateTimeField(null=True, editable=False)
    disabled_because = models.CharField(max_length=300, blank=True, default="", editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(secret__startswith="whsec_"),  # noqa: S106 - what they all begin with
                name="webhook_secrets_are_prefixed",
            ),
            models.CheckConstraint(
                condition=Q(old_secret="", old_secret_until__isnull=True)
                | Q(old_secret__startswith="whsec_", old_secret_until__isnull=False),  # noqa: S106 - as above
                name="old_webhook_secrets_have_an_end",
            ),
        ]
        verbose_name = "webhook endpoint"

    def __str__(self) -> str:
        return self.url


class WebhookTry(models.Model):
    """The delivery log: one line for every try, with what the other end answered. Never the payload."""

    endpoint = models.ForeignKey(
        WebhookEndpoint, on_delete=models.CASCADE, related_name="log", db_index=False
    )
    event_id = models.UUIDField()
    kind = models.CharField(max_length=60)
    number = models.PositiveSmallIntegerField("try")
    status = models.PositiveSmallIntegerField(null=True)  # none: no answer came
    error = models.CharField(max_length=300, blank=True, default="")
    took = models.DurationField()
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        indexes = [
            models.Index(fields=["endpoint", "-at"], name="webhook_tries_idx"),
            models.Index(fields=["at"], name="webhook_tries_age_idx"),
        ]
        verbose_name = "webhook try"
        verbose_name_plural = "webhook tries"

    def __str__(self) -> str:
        return f"{self.kind} {self.event_id}, try {self.number}: {self.status or self.error}"
