"""Two secrets of an endpoint fit for a while, and an old one ends."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from standardwebhooks import Webhook, WebhookVerificationError

from outbox.models import WebhookEndpoint
from outbox.webhooks.secrets import OVERLAP, end_old_secrets, forget_old_secrets, make_secret, renew_secret
from tests.receiver import Receiver, receiver
from tests.relay.effects import cause, relay_all
from tests.relay.webhooks import deliver_due, loopback_allowed, make_endpoint

__all__ = ["loopback_allowed", "receiver"]
pytestmark = pytest.mark.django_db(transaction=True)


def is_proof(secret: str, received: tuple[dict[str, str], bytes]) -> bool:
    """Whether a receiver that knows this secret takes the message."""
    headers, body = received
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True


def deliver_one(receiver: Receiver) -> tuple[dict[str, str], bytes]:
    cause()
    relay_all()
    deliver_due()
    return receiver.received[-1]


def test_new_secret_and_the_one_before_both_fit_until_the_old_ones_time_is_over(receiver: Receiver) -> None:
    endpoint = make_endpoint(receiver.url)
    first = endpoint.secret
    second = renew_secret(endpoint=endpoint)
    received = deliver_one(receiver)
    assert len(received[0]["webhook-signature"].split()) == 2
    assert [is_proof(secret, received) for secret in (first, second, make_secret())] == [True, True, False]
    soon, late = OVERLAP - timedelta(minutes=1), OVERLAP
    assert WebhookEndpoint.objects.filter(
        old_secret_until__gt=Now() + soon, old_secret_until__lte=Now() + late
    ).exists()

    WebhookEndpoint.objects.update(old_secret_until=Now())
    received = deliver_one(receiver)
    assert [is_proof(secret, received) for secret in (first, second)] == [False, True]

    assert [forget_old_secrets(), forget_old_secrets()] == [1, 0]
    endpoint.refresh_from_db()
    assert (endpoint.secret, endpoint.old_secret, endpoint.old_secret_until) == (second, "", None)


def test_only_the_latest_old_secret_signs_along_and_a_leaked_one_ends_at_once(receiver: Receiver) -> None:
    endpoint = make_endpoint(receiver.url)
    first = endpoint.secret
    second, third = renew_secret(endpoint=endpoint), renew_secret(endpoint=endpoint)
    assert forget_old_secrets() == 0, "its time is not over"
    assert [is_proof(secret, deliver_one(receiver)) for secret in (first, second, third)] == [
        False,
        True,
        True,
    ]

    assert end_old_secrets(endpoints=WebhookEndpoint.objects.all()) == 1
    received = deliver_one(receiver)
    assert [is_proof(secret, received) for secret in (second, third)] == [False, True]
