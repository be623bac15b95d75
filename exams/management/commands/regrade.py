"""`manage.py regrade EXAM`: grade an exam's submissions once more, behind everything fresh."""

from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from exams.errors import NotFound
from exams.services.regrading import regrade_exam
from outbox.management.teaching import TeachingCommand


class Command(TeachingCommand):
    """Arguments and wiring; what a regrade may change is in `exams.services.results`."""

    help = """\
Queue an exam's submissions to be graded once more, in the backlog lane, so that fresh work is never held up.

  after the grader was corrected          manage.py regrade EXAM
  after the cause of failures is gone     manage.py regrade EXAM --failed

EXAM is the exam's id, as in the address of its admin page. This command only queues; `run_worker` grades. A result that
comes out the same leaves no trace. A changed one is a new version of the result, its event names the old score, and it
goes to the mark sheet, where a teacher's own mark is never replaced: the result is kept beside it. A regrade that fails
leaves the old result where it was.
Exit code 0: queued, also when there was nothing to queue. 1: there is no such exam."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say which exam, and which of its submissions."""
        parser.add_argument("exam", metavar="EXAM", type=UUID, help="the exam's id")
        parser.add_argument("--failed", action="store_true", help="only submissions whose grading failed")

    def handle(self, *, exam: UUID, failed: bool, **_: Any) -> None:
        """Queue them and say how many."""
        try:
            queued = regrade_exam(exam_id=exam, only_failed=failed)
        except NotFound:
            raise CommandError(f"There is no exam {exam}.") from None
        self.stdout.write(f"{queued} submissions queued to be graded again.")
