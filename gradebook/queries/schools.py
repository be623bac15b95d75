"""Schools by name."""

from uuid import UUID

from django.db import connection

from gradebook.models import School
from outbox.db import fetch_row


def list_school_names() -> list[tuple[UUID, str]]:
    """Return id and name of every school there is outside of a rehearsal."""
    return list(School.objects.filter(is_rehearsal=False).values_list("pk", "name"))


def knows_time_zone(name: str) -> bool:
    """Return whether the database, too, can read clocks by a time zone."""
    with connection.cursor() as cursor:
        (knows,) = fetch_row(cursor, "gradebook", "knows_time_zone", {"name": name})
    return bool(knows)
