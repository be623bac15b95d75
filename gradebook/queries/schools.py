"""Schools by name."""

from uuid import UUID

from gradebook.models import School


def list_school_names() -> list[tuple[UUID, str]]:
    """Return id and name of every school there is outside of a rehearsal."""
    return list(School.objects.filter(is_rehearsal=False).values_list("pk", "name"))
