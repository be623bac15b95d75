"""Q5: a submission whose job was lost between the two is found within forty seconds and graded once."""

import datetime as dt

import pytest

from exams.models import Attempt, AttemptState, Result
from exams.sweeps import ORPHAN_SECONDS
from outbox.models import Job
from outbox.queue.sweeper import JITTER, Sweeper
from tests.exams.grading_room import grade_everything
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)
LONGEST_REPAIR = 42.0  # seconds: forty, and the jitter of the last turn


def test_q5_a_job_lost_behind_its_submission_is_made_again_and_graded_once(attempt: Attempt) -> None:
    (sweep,) = [each for each in Sweeper().list_sweeps() if each.name == "orphan submissions"]
    assert ORPHAN_SECONDS + sweep.seconds * (1 + JITTER) <= LONGEST_REPAIR

    hand_in(attempt, accepted_at=dt.datetime.now(tz=dt.UTC) - dt.timedelta(seconds=ORPHAN_SECONDS + 1))
    Job.objects.all().delete()
    assert [sweep.run(), sweep.run()] == [1, 0]

    grade_everything()
    attempt.refresh_from_db()
    assert (attempt.state, Result.objects.count()) == (AttemptState.GRADED, 1)
