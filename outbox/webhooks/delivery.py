"""The effect `webhook`: one delivery of one event to one endpoint, tried over two days, logged at every try.

An endpoint that fails is left alone for a while (`resting`), one that has failed for a long time is switched off, so that it neither costs
tries nor fills the table; the admin says so. Payloads are the events as the log has them: ids, states and marks, never answers.
"""

import dataclasses
import json
import time
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce, Now
from standardwebhooks import Webhook

from outbox.addresses import ForbiddenAddress
from outbox.calling import Answer, NoAnswer, post
from outbox.effects.registry import Delivery, Effect, GiveUp, Hint, Refuse, Target, TryLater, register_effect
from outbox.log.reading import StoredEvent
from outbox.models.webhooks import WebhookEndpoint, WebhookTry
from outbox.webhooks.resting import decide_rest, take_turn
from outbox.webhooks.secrets import list_secrets

WEBHOOK = "webhook"
SECONDS = 15.0  # for one exchange
# The schedule the specification recommends (Standard Webhooks, "Deliverability and reliability").
RETRIES = (5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0)
FAILURES_BEFORE_DISABLED = 20
FAILING_BEFORE_DISABLED = timedelta(days=1)
GONE = 410  # the endpoint says itself that it wants no more

_offered: set[str] = set()


def offer_kinds(kinds: Iterable[str]) -> None:
    """Let endpoints choose these kinds of event. Called in `AppConfig.ready`."""
    _offered.update(kinds)


def list_offered_kinds() -> list[str]:
    """Return the kinds of event that endpoints may choose."""
    return sorted(_offered)


@dataclasses.dataclass(frozen=True, slots=True)
class _Said:
    """What came of one try: an answer, or why there was none."""

    answer: Answer | None
    error: str
    took: timedelta

    @property
    def is_success(self) -> bool:
        return self.answer is not None and self.answer.is_success


def deliver(delivery: Delivery) -> None:
    """Send the event to its endpoint and write the try into the log. Runs outside a transaction."""
    endpoint = WebhookEndpoint.objects.filter(pk=UUID(delivery.target)).first()
    if endpoint is None:
        raise Refuse("The endpoint was removed.")  # by a person, who cannot bring it back
    if endpoint.disabled_at is not None:
        raise GiveUp("The endpoint is switched off.")
    take_turn(endpoint)
    said = _send(endpoint, delivery)
    _note(endpoint, delivery, said)
    if said.is_success:
        return
    if said.answer is not None and said.answer.status == GONE:
        raise GiveUp("The endpoint answered 410: it wants no more.")
    raise TryLater(said.error, seconds=said.answer.retry_after if said.answer else None)


def list_targets(hints: Sequence[Hint]) -> list[Target]:
    """Return which endpoints are to be told of which of these events. One query, whatever the number of events."""
    endpoints = WebhookEndpoint.objects.filter(disabled_at__isnull=True).values_list(
        "pk", "tenant_id", "kinds"
    )
    return [
        (hint, str(pk))
        for pk, tenant_id, kinds in endpoints
        for hint in hints
        if hint.kind in kinds and tenant_id in (None, hint.tenant_id)
    ]


def name_targets(targets: Collection[str]) -> dict[str, str]:
    """Return the addresses of these endpoints; one that was removed has none."""
    endpoints = WebhookEndpoint.objects.filter(pk__in=targets).values_list("pk", "url")
    return {str(pk): url for pk, url in endpoints}


def write_payload(event: StoredEvent) -> bytes:
    """Return the body: type, time and data, as the specification names them. The same bytes at every try.

    Deliveries may overtake each other; `subject_version` says which of two events of a subject is the later one.
    """
    body = {
        "type": event.kind,
        "timestamp": event.occurred_at.astimezone(UTC).isoformat(),
        "version": event.schema_version,
        "subject": event.subject,
        "subject_version": event.subject_version,
        "data": event.payload,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def sign(endpoint: WebhookEndpoint, *, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """Return the headers that prove to this endpoint that the message is ours, and when it was sent.

    One signature for each secret in use, with blanks between them: the other end takes any that fits.
    """
    signatures = [
        Webhook(secret).sign(message_id, now, body.decode()) for secret in list_secrets(endpoint, now=now)
    ]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


def _send(endpoint: WebhookEndpoint, delivery: Delivery) -> _Said:
    body = write_payload(delivery.event)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Handover",
        **sign(endpoint, message_id=str(delivery.event.event_id), body=body, now=datetime.now(UTC)),
    }
    began = time.monotonic()
    try:
        answer = post(
            endpoint.url,
            body=body,
            headers=headers,
            seconds=SECONDS,
            private=settings.WEBHOOKS_MAY_CALL_PRIVATE,
        )
    except (NoAnswer, ForbiddenAddress) as error:
        return _Said(None, str(error), timedelta(seconds=time.monotonic() - began))
    words = "" if answer.is_success else f"It answered {answer.status}."
    return _Said(answer, words, timedelta(seconds=time.monotonic() - began))


@transaction.atomic
def _note(endpoint: WebhookEndpoint, delivery: Delivery, said: _Said) -> None:
    """Write the try into the delivery log, count failures in a row, and switch the endpoint off when there were enough."""
    WebhookTry.objects.create(
        endpoint=endpoint,
        event_id=delivery.event.event_id,
        kind=delivery.event.kind,
        number=delivery.tries,
        status=said.answer.status if said.answer else None,
        error=said.error[:300],
        took=said.took,
    )
    row = WebhookEndpoint.objects.filter(pk=endpoint.pk)
    if said.is_success:
        row.filter(failures_in_a_row__gt=0).update(
            failures_in_a_row=0, first_failure_at=None, rests_until=None
        )
        return
    rest = decide_rest(endpoint.failures_in_a_row + 1, said.answer.retry_after if said.answer else None)
    row.update(
        failures_in_a_row=F("failures_in_a_row") + 1,
        first_failure_at=Coalesce("first_failure_at", Now()),
        rests_until=Now() + rest,
    )
    gone = said.answer is not None and said.answer.status == GONE
    failing_long = row.filter(
        disabled_at__isnull=True,
        failures_in_a_row__gte=1 if gone else FAILURES_BEFORE_DISABLED,
        first_failure_at__lte=Now() - (timedelta(0) if gone else FAILING_BEFORE_DISABLED),
    )
    failing_long.update(disabled_at=Now(), disabled_because=f"The last try: {said.error}"[:300])


def register() -> None:
    """Make the effect known."""
    register_effect(
        Effect(
            WEBHOOK,
            _offered,
            deliver,
            outside=True,
            retries=RETRIES,
            list_targets=list_targets,
            name_targets=name_targets,
        )
    )
