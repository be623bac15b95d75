"""What the sweeper does for exams.

It closes overdue attempts, makes the job of a submission that has none, says that scores are released, clears unused attachments away.
"""

from django.db import connection, transaction

from exams.attachments.cleanup import sweep_doomed_objects, sweep_unused_attachments
from exams.jobs import GRADE, grading_job
from exams.models import Submission
from exams.services.closing import close_overdue_attempts
from exams.services.releasing import announce_releases
from outbox.db import load_sql
from outbox.queue.jobs import enqueue
from outbox.queue.sweeper import AT_ONCE, Sweep, register_sweep
from outbox.quorum import find_quorum_problem

ORPHAN_SECONDS = 30.0


def register() -> None:
    """Have sweepers of this process do these."""
    register_sweep(Sweep("overdue attempts", sweep_overdue_attempts))
    register_sweep(Sweep("orphan submissions", sweep_orphan_submissions, 10.0))
    register_sweep(Sweep("released scores", announce_releases))
    register_sweep(Sweep("unused attachments", sweep_unused_attachments, 60.0))
    register_sweep(Sweep("doomed objects", sweep_doomed_objects, 60.0))


def sweep_overdue_attempts() -> int:
    """Close every attempt whose time is over; return how many.

    None while commits cannot be made safe: a hand-in that came in time may still stand in the gate's line, and the draft must not win.
    """
    if find_quorum_problem() is not None:
        return 0
    closed = close_overdue_attempts()
    return closed.handed_in + closed.not_taken


def sweep_orphan_submissions() -> int:
    """Make the missing jobs; return how many. Its id is a function of the submission, so two sweepers make one job."""
    made = 0
    while batch := _adopt_orphans():
        made += batch
    return made


@transaction.atomic
def _adopt_orphans() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            load_sql("exams", "list_orphan_submissions"),
            {"kind": GRADE, "seconds": ORPHAN_SECONDS, "at_most": AT_ONCE},
        )
        found = [submission_id for (submission_id,) in cursor.fetchall()]
    return len(enqueue(map(grading_job, Submission.objects.filter(pk__in=found).defer("answers"))))
