"""The secret an endpoint and we share: 32 random bytes, written as the specification asks.

The one thing to know: after a change every message carries a signature by each of the two, so that the other end may change over at any moment
of `OVERLAP` and refuses nothing meanwhile. `end_old_secrets` is for one that somebody else has seen.
"""

import base64
import secrets
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F, QuerySet
from django.db.models.functions import Now

from outbox.models.webhooks import WebhookEndpoint

PREFIX = "whsec_"
BYTES = 32  # the specification asks for 24 to 64
OVERLAP: Final = timedelta(hours=24)


def make_secret() -> str:
    """Return a new secret."""
    return PREFIX + base64.b64encode(secrets.token_bytes(BYTES)).decode()


def renew_secret(*, endpoint: WebhookEndpoint) -> str:
    """Give an endpoint a new secret and return it. The one until now signs too for `OVERLAP`; one before that, no more."""
    new = make_secret()
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(
        old_secret=F("secret"), old_secret_until=Now() + OVERLAP, secret=new
    )
    endpoint.refresh_from_db()
    return new


def end_old_secrets(*, endpoints: QuerySet[WebhookEndpoint]) -> int:
    """Sign with the old secrets of these no more; return how many there were."""
    return endpoints.exclude(old_secret="").update(old_secret="", old_secret_until=None)


def forget_old_secrets() -> int:
    """Delete old secrets whose time is over; return how many."""
    return end_old_secrets(endpoints=WebhookEndpoint.objects.filter(old_secret_until__lte=Now()))


def list_secrets(endpoint: WebhookEndpoint, *, now: datetime) -> list[str]:
    """Return the secrets that sign now, the new one first."""
    until = endpoint.old_secret_until
    return [endpoint.secret] + ([endpoint.old_secret] if until is not None and now < until else [])
