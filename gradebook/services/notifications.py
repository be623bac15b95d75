"""Telling people something in the page, and noting that they have read it."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models.functions import Now
from uuid_utils.compat import uuid7

from gradebook.models import Notification
from outbox.db import load_sql, require_transaction

KEPT = timedelta(days=180)


def notify(
    *, recipients: Collection[UUID], topic: str, text: str, address: str, occurred_at: datetime
) -> None:
    """Tell these people. Counts a topic they have not read yet, so it belongs into a transaction that happens once."""
    require_transaction()
    people = sorted(set(recipients))
    if not people:
        return
    parameters: dict[str, Any] = {
        "ids": [uuid7() for _ in people],
        "recipients": people,
        "topic": topic,
        "words": text[:400],
        "address": address,
        "occurred_at": occurred_at,
    }
    with connection.cursor() as cursor:
        cursor.execute(load_sql("gradebook", "notify_people"), parameters)


def mark_read(*, person_id: UUID, ids: Collection[UUID] | None = None) -> int:
    """Note that this person has read these lines of theirs, or all of them; return how many were unread."""
    unread = Notification.objects.filter(recipient=person_id, read_at__isnull=True)
    if ids is not None:
        unread = unread.filter(pk__in=ids)
    return unread.update(read_at=Now())


def prune_notifications() -> int:
    """Forget lines of long ago; return how many."""
    return Notification.objects.filter(occurred_at__lt=Now() - KEPT).delete()[0]
