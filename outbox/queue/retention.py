"""What the queue forgets: finished jobs older than JOB_RETENTION_DAYS, and counts of minutes as old.

Why rows are deleted and not partitions dropped: ADR 0013. A turn deletes a bounded number in small transactions, so that the
first one after an upgrade, or after the retention was shortened, takes turns with everything else.
"""

from django.conf import settings
from django.db import connection

from outbox.db import load_sql

AT_ONCE = 5_000
STATEMENTS_A_TURN = 20  # 100,000 rows a minute at the sweep's pace


def delete_old_finished_jobs() -> int:
    """Delete what is too old, up to 100,000 rows; return how many."""
    deleted = 0
    for _ in range(STATEMENTS_A_TURN):
        some = _delete("delete_old_finished_jobs", days=settings.JOB_RETENTION_DAYS, at_most=AT_ONCE)
        deleted += some
        if some < AT_ONCE:
            break
    return deleted


def delete_old_tallies() -> int:
    """Delete the counts of minutes long ago; return how many rows."""
    return _delete("delete_old_tallies", days=settings.JOB_RETENTION_DAYS)


def _delete(statement: str, **parameters: float) -> int:
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", statement), parameters)
        return int(cursor.rowcount)
