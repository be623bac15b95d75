"""Keeping effects going and their tables small: messages sent again, old receipts and tries forgotten."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from outbox.effects.publisher import Publisher, make_publisher
from outbox.effects.receipts import take_overdue_effects
from outbox.effects.running import RESEND_AFTER
from outbox.models import EffectReceipt, EffectState, WebhookTry
from outbox.periodic import Periodic, prune_moments, register_periodic, run_planned
from outbox.queue.sweeper import AT_ONCE, Sweep, register_sweep
from outbox.webhooks.secrets import forget_old_secrets

KEPT = timedelta(days=90)  # longer than anybody waits for a second delivery
_OVER = (EffectState.DONE, EffectState.REFUSED)  # nobody will come back to these


def register() -> None:
    """Have sweepers of this process do these. With a broker, Celery's beat sees to the planned work."""
    register_periodic(Periodic("old receipts of effects", timedelta(hours=1), prune_receipts))
    register_periodic(Periodic("old webhook tries", timedelta(hours=1), prune_tries))
    register_periodic(Periodic("old webhook secrets", timedelta(hours=1), forget_old_secrets))
    register_periodic(Periodic("old planned moments", timedelta(days=1), prune_moments))
    if settings.CELERY_BROKER_URL:
        register_sweep(Sweep("unsent effects", Resender().resend, 1.0))
    else:
        register_sweep(Sweep("planned work", run_planned))


class Resender:
    """Sends messages again whose effects have not happened, over a connection it keeps."""

    def __init__(self, publisher: Publisher | None = None) -> None:
        self._publisher = publisher

    def resend(self, *, at_most: int = AT_ONCE) -> int:
        """Send some again; return how many. They are noted as sent only once the broker has confirmed them all."""
        publisher = self._publisher = self._publisher or make_publisher()
        assert publisher is not None, "Without a broker nothing is sent."
        with transaction.atomic():
            messages = take_overdue_effects(at_most=at_most, resend_after=RESEND_AFTER)
            if messages:
                publisher.publish(messages)
        return len(messages)


def prune_receipts() -> int:
    """Forget receipts of what was done or refused long ago; what failed stays until somebody has looked at it."""
    old = EffectReceipt.objects.filter(state__in=_OVER, ended_at__lt=Now() - KEPT)
    return old.delete()[0]


def prune_tries() -> int:
    """Forget old lines of the delivery log."""
    return WebhookTry.objects.filter(at__lt=Now() - KEPT).delete()[0]
