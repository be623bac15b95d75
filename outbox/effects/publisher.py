"""Who hands messages to those who act on them. Celery is loaded only where there is a broker: every process reads this module."""

from collections.abc import Sequence
from typing import Protocol

from django.conf import settings

from outbox.effects.receipts import Message


class Publisher(Protocol):
    """Whoever hands messages to those who act on them."""

    def publish(self, messages: Sequence[Message]) -> None:
        """Hand them all over; raise `Unavailable` when it is not sure that they have all arrived."""


def make_publisher() -> Publisher | None:
    """Return the publisher of this installation, None when it has no broker and the relay acts itself."""
    if not settings.CELERY_BROKER_URL:
        return None
    from outbox.effects.publishing import CeleryPublisher  # noqa: PLC0415 - see above

    return CeleryPublisher()
