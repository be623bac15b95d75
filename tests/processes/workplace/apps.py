"""An app for the processes under test: registers the test's own kind of work, whose jobs do what their number says."""

import os
import re
import signal

from django.apps import AppConfig
from django.db import connection

FIRST_KILLER = 1_000_000  # jobs numbered from here kill the process that works on them
FIRST_HANGER = 2_000_000  # jobs numbered from here never end
FIRST_WAITER = 3_000_000  # jobs numbered from here wait for the test's lock
GATE = 42  # the advisory lock a waiting job takes


class WorkplaceConfig(AppConfig):
    """Registers the workshop when the process starts."""

    name = "tests.processes.workplace"

    def ready(self) -> None:
        """Let `run_worker` know the kind."""
        from outbox.queue.handlers import ClaimedJob, Done, Outcome, register_handler  # noqa: PLC0415 - needs loaded apps
        from tests.outbox.queue.workshop import Workshop, number_of  # noqa: PLC0415 - as above

        def fate(job: ClaimedJob) -> Outcome:
            number = number_of(job.subject_id)
            if number >= FIRST_WAITER:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT pg_advisory_lock(%s), pg_advisory_unlock(%s)", [GATE, GATE])
            elif number >= FIRST_HANGER:
                re.match(r"(a+)+$", "a" * 60 + "b")  # for ages, and no other thread of Python runs meanwhile
            elif number >= FIRST_KILLER:
                os.kill(os.getpid(), signal.SIGKILL)
            return Done(job)

        register_handler(Workshop(fate))
