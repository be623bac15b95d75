"""How long a transaction of a worker may wait for a lock or lie idle: half a lease, and never longer than ten seconds.

A worker that freezes inside a transaction holds its locks as long as its session lives; so the server ends the session, before
the sweeper comes for the jobs and finds their rows locked. It is set for one transaction at a time, because behind a
pooler the session is not ours.
"""

from django.conf import settings
from django.db import connection

from outbox.db import load_sql, require_transaction

LONGEST_PATIENCE = 10.0  # seconds


def limit_patience() -> None:
    """Bound the waiting and idling of the transaction at hand."""
    require_transaction()
    seconds = min(LONGEST_PATIENCE, settings.JOB_LEASE_SECONDS / 2)
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "limit_patience"), {"limit": f"{int(seconds * 1000)}ms"})
