"""What the sweeper does for exams: jobs for submissions that have none, and attempts closed without any browser."""

import datetime as dt

import pytest
from django.db import transaction
from uuid_utils.compat import uuid7

from exams import sweeps
from exams.jobs import GRADE
from exams.models import Attempt, AttemptState
from exams.services.drafts import save_draft
from exams.sweeps import ORPHAN_SECONDS, sweep_orphan_submissions
from outbox.models import DeadLetter, Job
from outbox.models.jobs import Cause
from outbox.queue.sweeper import Sweeper
from tests import factories
from tests.exams.crowd import gather
from tests.exams.grading_room import grade_everything
from tests.exams.plans import explain
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db

AGES = dt.timedelta(seconds=ORPHAN_SECONDS + 5)


def orphan(attempt: Attempt, ago: dt.timedelta = AGES) -> Job:
    """Lose the job of a submission that was accepted so long ago; return it as it was."""
    hand_in(attempt, accepted_at=dt.datetime.now(tz=dt.UTC) - ago)
    job = Job.objects.get(subject_id=attempt.submissions.get().pk)
    Job.objects.filter(job_id=job.job_id).delete()
    return job


def test_a_submission_without_a_job_gets_one(attempt: Attempt) -> None:
    lost = orphan(attempt)

    assert sweep_orphan_submissions() == 1
    assert sweep_orphan_submissions() == 0

    made = Job.objects.get()
    assert (made.job_id, made.kind, made.subject_id, made.group_id) == (
        lost.job_id,
        GRADE,
        lost.subject_id,
        lost.group_id,
    )


def test_a_submission_just_accepted_is_left_alone(attempt: Attempt) -> None:
    orphan(attempt, ago=dt.timedelta(seconds=ORPHAN_SECONDS - 10))
    assert sweep_orphan_submissions() == 0


def test_a_submission_that_was_given_up_is_left_to_a_person(attempt: Attempt) -> None:
    lost = orphan(attempt)
    letter = DeadLetter.objects.create(
        id=uuid7(),
        job_id=lost.job_id,
        tenant_id=lost.tenant_id,
        group_id=lost.group_id,
        kind=GRADE,
        subject_id=lost.subject_id,
        cause=Cause.LOST_LEASES,
        tries=3,
    )
    assert sweep_orphan_submissions() == 0
    DeadLetter.objects.filter(pk=letter.pk).update(replayed_at=dt.datetime.now(tz=dt.UTC))
    assert sweep_orphan_submissions() == 1


def test_a_submission_with_a_job_is_left_alone(attempt: Attempt) -> None:
    hand_in(attempt, accepted_at=dt.datetime.now(tz=dt.UTC) - AGES)
    assert sweep_orphan_submissions() == 0


def test_all_orphans_get_jobs_however_many_there_are(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "AT_ONCE", 2)
    for _ in range(5):
        orphan(factories.attempt(attempt.revision))
    assert sweep_orphan_submissions() == 5


def test_orphans_are_found_by_the_index_of_submitted_attempts(attempt: Attempt) -> None:
    gather(attempt)
    used = explain("list_orphan_submissions", {"kind": GRADE, "seconds": ORPHAN_SECONDS, "at_most": 500})
    assert "attempts_submitted_idx" in used


@pytest.mark.django_db(transaction=True)
def test_a_page_left_open_is_closed_and_its_draft_graded_without_any_browser(attempt: Attempt) -> None:
    """O07: the student closed the browser; nothing ever comes from it again."""
    answers = factories.right_answers(attempt.revision)
    save_draft(attempt_id=attempt.pk, student_id=attempt.student_id, answers=answers, token=None)
    with transaction.atomic():
        over = dt.datetime.now(tz=dt.UTC) - dt.timedelta(minutes=1)
        Attempt.objects.update(closes_at=over, grace_until=over, accepts_until=over)

    done = Sweeper().run_once()
    grade_everything()

    attempt.refresh_from_db()
    assert done["overdue attempts"] == 1
    assert attempt.state == AttemptState.NEEDS_MARKING
    assert attempt.submissions.get().result.score == 6
