"""An edit and the newest changes, the way the manual writes them."""

from uuid import UUID

from auditlog.context import set_actor
from auditlog.models import LogEntry
from django.db import transaction
from django.db.models import CharField
from django.db.models.functions import Cast

from with_auditlog.models import Mark


def save(mark, teacher):
    """Save a mark. Mark and entry are two statements: the transaction is what ATOMIC_REQUESTS opens."""
    with transaction.atomic(), set_actor(teacher):
        mark.save()


def list_changes(sheet, size):
    """Return (who, when, column, student, old, new) of the newest changes; the entry holds both values."""
    marks = Mark.objects.filter(sheet=sheet)
    keys = marks.annotate(key=Cast("pk", CharField())).values("key")
    entries = LogEntry.objects.get_for_model(Mark).filter(object_pk__in=keys)
    found = list(entries.select_related("actor")[:size])
    names = marks.select_related("column", "student").in_bulk([UUID(entry.object_pk) for entry in found])
    return [
        (
            entry.actor.get_full_name(),
            entry.timestamp,
            *_name(names[UUID(entry.object_pk)]),
            *entry.changes["value"],
        )
        for entry in found
    ]


def _name(mark):
    return mark.column.title, mark.student.name
