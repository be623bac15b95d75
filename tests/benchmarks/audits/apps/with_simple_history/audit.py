"""An edit and the newest changes, the way the manual writes them."""

from django.db import transaction

from with_simple_history.models import Mark


def save(mark, teacher):
    """Save a mark. Mark and record are two statements: the transaction is what ATOMIC_REQUESTS opens."""
    mark._history_user = teacher
    with transaction.atomic():
        mark.save()


def list_changes(sheet, size):
    """Return (who, when, column, student, old, new) of the newest changes. A record asks for the one before it."""
    records = Mark.history.filter(sheet=sheet).select_related("history_user", "column", "student")
    return [
        (
            record.history_user.get_full_name(),
            record.history_date,
            record.column.title,
            record.student.name,
            earlier.value if (earlier := record.prev_record) else None,
            record.value,
        )
        for record in records[:size]
    ]
