"""Telling a proctoring service that an attempt has ended, so that it stops watching.

The call may reach the service twice; both carry the same `Idempotency-Key`.
"""

import json

from django.conf import settings

from outbox.calling import NoAnswer, post
from outbox.effects import Delivery, GiveUp, TryLater

SECONDS = 15.0
ASK_AGAIN = {
    408,
    425,
    429,
}  # refusals that are about now, not about the request (RFC 9110; RFC 8470; RFC 6585)


def tell_proctoring_service(delivery: Delivery) -> None:
    """Tell it which attempt ended and how. An effect outside."""
    event = delivery.event
    body = {
        "action": "finish",
        "attempt_id": event.payload["attempt_id"],
        "exam_id": event.payload["exam_id"],
        "student_id": event.payload["student_id"],
        "cause": event.kind,
        "occurred_at": event.occurred_at.isoformat(),
    }
    headers = {"Content-Type": "application/json", "Idempotency-Key": delivery.key}
    if settings.PROCTORING_TOKEN:
        headers["Authorization"] = f"Bearer {settings.PROCTORING_TOKEN}"
    try:
        answer = post(
            settings.PROCTORING_URL,
            body=json.dumps(body).encode(),
            headers=headers,
            seconds=SECONDS,
            private=True,  # the operator's own setting, not something typed into a page
        )
    except NoAnswer as error:
        raise TryLater(str(error)) from error
    if answer.is_success:
        return
    words = f"The proctoring service answered {answer.status}."
    if 400 <= answer.status < 500 and answer.status not in ASK_AGAIN:  # noqa: PLR2004 - a client's error
        raise GiveUp(words)
    raise TryLater(words, seconds=answer.retry_after)
