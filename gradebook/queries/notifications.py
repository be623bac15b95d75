"""What a person has been told, the latest first."""

from uuid import UUID

from django.db.models import QuerySet

from gradebook.models import Notification

MOST_LISTED = 100


def list_notifications(*, person_id: UUID) -> QuerySet[Notification]:
    """Return this person's latest lines, at most 100. One read."""
    return Notification.objects.filter(recipient=person_id).order_by("-occurred_at", "-id")[:MOST_LISTED]


def find_notification(*, notification_id: UUID, person_id: UUID) -> Notification | None:
    """Return one line of this person's, or None. One read."""
    return Notification.objects.filter(pk=notification_id, recipient=person_id).first()


def count_unread(*, person_id: UUID) -> int:
    """Return how many lines this person has not read. One read."""
    return Notification.objects.filter(recipient=person_id, read_at__isnull=True).count()
