"""Clearing drafts away: at once when the student handed in, after a month when the server did."""

from typing import Any

from django.db import connection

from outbox.db import load_sql
from outbox.effects import Delivery

DAYS_KEPT = 30  # longer than anybody is given more time after the end
AT_ONCE = 500


def delete_spent_draft(delivery: Delivery) -> None:
    """Delete the draft of what was handed in. An effect of the database."""
    _run("delete_spent_draft", {"submission_id": delivery.event.payload["submission_id"]})


def delete_old_drafts() -> int:
    """Delete the drafts of attempts that ended a month ago; return how many."""
    deleted = 0
    while some := _run("delete_old_drafts", {"days": DAYS_KEPT, "at_most": AT_ONCE}):
        deleted += some
    return deleted


def _run(statement: str, parameters: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(load_sql("exams", statement), parameters)
        return int(cursor.rowcount)
