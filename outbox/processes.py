"""Signs of life: every long-running process says once a second that it is still there.

A heartbeat belongs to one incarnation of a process, never to a host or a pid: both come back after a crash.
"""

import os
import socket
import time
from datetime import timedelta
from uuid import UUID, uuid4

from django.db import connection

from outbox.db import load_sql
from outbox.models.processes import Heartbeat

SECONDS_BETWEEN_BEATS = 1.0


class Heart:
    """The heartbeat of one role of this process. Make it where the loop starts, `beat()` in every turn, `stop()` at the end."""

    def __init__(self, role: str) -> None:
        self.role = role
        self.incarnation: UUID = uuid4()
        self._next_beat = 0.0

    def beat(self) -> None:
        """Say that we live, at most once a second. Not inside a transaction: nobody would see it until the commit."""
        if time.monotonic() < self._next_beat:
            return
        with connection.cursor() as cursor:
            cursor.execute(
                load_sql("outbox", "beat"),
                {
                    "incarnation": self.incarnation,
                    "role": self.role,
                    "pid": os.getpid(),
                    "host": socket.gethostname(),
                },
            )
        self._next_beat = time.monotonic() + SECONDS_BETWEEN_BEATS

    def stop(self) -> None:
        """Say that we ended in good order: a heartbeat that is still there and silent means a crash."""
        Heartbeat.objects.filter(incarnation=self.incarnation).delete()


_hearts: dict[tuple[int, str], Heart] = {}


def beat(role: str) -> Heart:
    """Beat for a role of this process and return its heart, the same one at every call (a fork gets its own)."""
    heart = _hearts.setdefault((os.getpid(), role), Heart(role))
    heart.beat()
    return heart


def list_roles_alive(within: timedelta) -> set[str]:
    """Return the roles somebody beat for in the last `within`, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "list_roles_alive"), {"seconds": within.total_seconds()})
        return {role for (role,) in cursor.fetchall()}
