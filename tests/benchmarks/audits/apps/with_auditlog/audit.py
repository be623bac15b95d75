"""An edit and the newest changes, the way the manual writes them."""

from auditlog.context import set_actor
from auditlog.models import LogEntry
from django.db import transaction

from with_auditlog.models import Mark


def save(mark, teacher):
    """Save a mark. Mark and entry are two statements: the transaction is what ATOMIC_REQUESTS opens."""
    with transaction.atomic(), set_actor(teacher):
        mark.save()


def list_changes(sheet, size):
    """Return (who, when, column, student, old, new) of the newest changes; the entry holds both values."""
    marks = Mark.objects.filter(sheet=sheet)
    entries = LogEntry.objects.get_for_model(Mark).filter(object_id__in=marks.values("pk"))
    found = list(entries.select_related("actor")[:size])
    names = marks.select_related("column", "student").in_bulk([entry.object_id for entry in found])
    return [
        (
            entry.actor.get_full_name(),
            entry.timestamp,
            *_name(names[entry.object_id]),
            *entry.changes["value"],
        )
        for entry in found
    ]


def _name(mark):
    return mark.column.title, mark.student.name
