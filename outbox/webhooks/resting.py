"""Leaving a failing endpoint alone: while it fails one delivery after another is its trial, and all its others wait without costing a try.

The one thing to know: an endpoint that hangs costs a thread fifteen seconds a call. Without rests, two of them and a burst of events would
hold up the deliveries to everybody else, and with a broker the mails and notifications too.
"""

from datetime import timedelta
from typing import Final

from django.db.models import F, Q
from django.db.models.functions import Now

from outbox.effects.registry import NotNow
from outbox.models.webhooks import WebhookEndpoint

FIRST_REST: Final = timedelta(seconds=5)
LONGEST_REST: Final = timedelta(minutes=10)
TRIAL: Final = timedelta(seconds=20)  # longer than one exchange may take
_DOUBLINGS: Final = 10  # enough to reach the longest rest


def decide_rest(failures_in_a_row: int, retry_after: float | None) -> timedelta:
    """Return how long an endpoint is left alone after this many failures: ever longer, and as long as it asks for itself."""
    rest = min(FIRST_REST * (1 << min(failures_in_a_row - 1, _DOUBLINGS)), LONGEST_REST)
    return max(rest, timedelta(seconds=retry_after or 0.0))


def take_turn(endpoint: WebhookEndpoint) -> None:
    """Return when the endpoint may be called now; raise `NotNow` while it rests, or while another delivery tries whether it answers again."""
    if not endpoint.failures_in_a_row:
        return
    rested = Q(rests_until__isnull=True) | Q(rests_until__lte=Now())
    this_one = WebhookEndpoint.objects.filter(rested, pk=endpoint.pk)
    if this_one.update(rests_until=Now() + TRIAL):
        return
    raise NotNow(
        "The endpoint is left alone for a while: it did not take the last deliveries.",
        seconds=_left(endpoint),
    )


def _left(endpoint: WebhookEndpoint) -> float:
    """Return how many seconds of the rest are left, by the database's clock."""
    left: timedelta | None = (
        WebhookEndpoint.objects.filter(pk=endpoint.pk)
        .values_list(F("rests_until") - Now(), flat=True)
        .first()
    )
    return max(left.total_seconds(), 1.0) if left else 1.0
