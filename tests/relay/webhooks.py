"""Endpoints of webhooks for a test, and their deliveries."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from outbox.effects import find_effect
from outbox.effects.running import run_due_effects
from outbox.models import EffectReceipt, WebhookEndpoint
from outbox.webhooks import WEBHOOK, delivery
from outbox.webhooks.secrets import make_secret
from tests.relay.effects import CAUSED


@pytest.fixture(autouse=True)
def loopback_allowed(settings: Settings) -> Iterator[None]:
    settings.WEBHOOKS_MAY_CALL_PRIVATE = True
    delivery._offered.add(CAUSED)
    yield
    delivery._offered.discard(CAUSED)


def make_endpoint(url: str, **fields: Any) -> WebhookEndpoint:
    return WebhookEndpoint.objects.create(**{"url": url, "kinds": [CAUSED], "secret": make_secret()} | fields)


def deliver_due() -> int:
    effect = find_effect(WEBHOOK)
    assert effect
    count = 0
    while done := run_due_effects([effect], at_most=1):
        count += done
    return count


def make_due() -> None:
    """Let the waits of deliveries and the rests of endpoints be over."""
    EffectReceipt.objects.filter(state="pending").update(due_at=Now())
    WebhookEndpoint.objects.update(rests_until=None)
