"""Real claims, real settling, a real pass of the sequencer: what a worker and a consumer process do, without the processes."""

import datetime as dt
from collections import Counter

from exams.consumers.gradebook_marks import GradebookMarks
from exams.jobs import GRADE, REGRADE
from outbox.consumers.batches import run_batch
from outbox.log.sequencer import sequence_events
from outbox.queue.claim import Claimer
from outbox.queue.handlers import get_handler
from outbox.queue.settle import Settled, prepare, settle


def grade_everything() -> Counter[Settled]:
    """Claim and settle until nothing is due; return how the tries ended."""
    claimer = Claimer(kinds=[GRADE, REGRADE], lease=dt.timedelta(seconds=60))
    ended: Counter[Settled] = Counter()
    while claim := claimer.claim(by=None):
        handler = get_handler(claim.kind)
        ended += settle(handler, prepare(handler, claim.jobs))
    return ended


def post_everything() -> int:
    """Number the events and let the consumer read to the head; return how many of them it applied."""
    sequence_events()
    applied = 0
    while (progress := run_batch(GradebookMarks())).more:
        applied += progress.applied
    return applied
