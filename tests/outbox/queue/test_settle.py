"""Ending a try: all of it or nothing, only by the holder of the lease, and one bad job never spoils its neighbours."""

import uuid
from collections import Counter
from collections.abc import Sequence

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from outbox.models import DeadLetter, FinishedJob, Job, JobState
from outbox.models.jobs import Cause
from outbox.queue.claim import Claim
from outbox.queue.handlers import Done, PermanentFailure, Verdict
from outbox.queue.settle import Failure, Settled, prepare, settle
from tests.outbox.queue.trouble import BUSY, fail, fail_writing, take_away
from tests.outbox.queue.workshop import (
    EXAM,
    KIND,
    TENANT,
    Workshop,
    claim_batch,
    name_subject,
    number_of,
    queue,
    read_notes,
    read_row,
    work_on,
)

pytestmark = pytest.mark.django_db(transaction=True)


def notes_of(*numbers: int) -> dict[str, int]:
    return {name_subject(uuid.UUID(int=number)): 1 for number in numbers}


def test_settle_writes_the_effect_and_moves_the_job_out() -> None:
    (job,) = queue(1)
    assert work_on(Workshop(), claim_batch()) == {Settled.FINISHED: 1}
    row = read_row(FinishedJob)
    assert row.pop("created_at") <= row.pop("finished_at")
    assert row == {
        "tenant_id": TENANT,
        "group_id": EXAM,
        "job_id": job.job_id,
        "kind": KIND,
        "subject_id": job.subject_id,
        "lane": 0,
        "priority": 0,
        "tries": 1,
    }
    assert not Job.objects.exists()
    assert read_notes() == notes_of(0)


def test_settle_hands_the_handler_what_it_prepared() -> None:
    queue(2)
    written: list[Verdict] = []
    workshop = Workshop(
        fate=lambda job: Done(job, value=f"value {number_of(job.subject_id)}"), on_write=written.extend
    )
    claim = claim_batch()
    work_on(workshop, claim)
    assert written == [Done(job, value=f"value {number}") for number, job in enumerate(claim.jobs)]


def test_a_permanent_failure_is_written_by_the_domain_and_ends_the_job() -> None:
    queue(1)
    written: list[Verdict] = []
    workshop = Workshop(
        fate=lambda job: PermanentFailure(job, "the exam was withdrawn"), on_write=written.extend
    )
    claim = claim_batch()
    assert work_on(workshop, claim) == {Settled.FINISHED: 1}
    assert written == [PermanentFailure(claim.jobs[0], "the exam was withdrawn")]
    assert (FinishedJob.objects.count(), DeadLetter.objects.count()) == (1, 0)


def test_settling_fifty_jobs_takes_as_many_statements_as_settling_two() -> None:
    """Set-based: the cost of a batch in round trips does not depend on its size."""

    def count_statements(jobs: int, first: int) -> int:
        queue(jobs, first=first)
        claim = claim_batch()
        outcomes: list[Verdict | Failure] = [Done(job) for job in claim.jobs]
        with CaptureQueriesContext(connection) as statements:
            settle(Workshop(), outcomes)
        return len(statements)

    assert count_statements(2, first=0) == count_statements(50, first=100)


def test_nothing_is_kept_when_the_lease_was_lost() -> None:
    """Q1: a worker that froze past its lease finishes nothing."""
    queue(1)
    claim = claim_batch()
    take_away(0)
    assert work_on(Workshop(), claim) == {Settled.LOST: 1}
    assert read_notes() == {}
    assert not FinishedJob.objects.exists()
    assert Job.objects.get().state == JobState.RUNNING


def test_a_lost_job_does_not_spoil_its_neighbours() -> None:
    queue(4)
    claim = claim_batch()
    take_away(1)
    workshop = Workshop()
    assert work_on(workshop, claim) == {Settled.FINISHED: 3, Settled.LOST: 1}
    assert read_notes() == notes_of(0, 2, 3)


def test_a_job_that_is_ready_again_under_no_lease_is_not_finished_by_its_old_holder() -> None:
    queue(1)
    claim = claim_batch()
    Job.objects.update(state=JobState.READY, lease_id=None, leased_until=None, leased_by=None)
    assert work_on(Workshop(), claim) == {Settled.LOST: 1}
    assert Job.objects.get().state == JobState.READY


def test_settling_twice_has_one_effect() -> None:
    queue(2)
    claim = claim_batch()
    work_on(Workshop(), claim)
    assert work_on(Workshop(), claim) == {Settled.LOST: 2}
    assert read_notes() == notes_of(0, 1)


def test_an_error_in_preparing_one_job_costs_only_that_job() -> None:
    queue(4)
    assert work_on(Workshop(fate=fail(2, ValueError("no such question"))), claim_batch()) == {
        Settled.FINISHED: 3,
        Settled.BURIED: 1,
    }
    assert read_notes() == notes_of(0, 1, 3)
    letter = DeadLetter.objects.get()
    assert (letter.cause, letter.error_class, letter.error_detail, letter.tries) == (
        Cause.DEFECT,
        "ValueError",
        "no such question",
        1,
    )


def test_an_error_in_writing_one_job_costs_only_that_job() -> None:
    queue(4)
    workshop = Workshop(on_write=fail_writing(2, ValueError("no such column")))
    assert work_on(workshop, claim_batch()) == {Settled.FINISHED: 3, Settled.BURIED: 1}
    assert read_notes() == notes_of(0, 1, 3)
    assert DeadLetter.objects.get().error_detail == "no such column"


def test_a_transient_error_in_writing_is_retried() -> None:
    queue(2)
    workshop = Workshop(on_write=fail_writing(1, BUSY))
    assert work_on(workshop, claim_batch()) == {Settled.FINISHED: 1, Settled.RETRIED: 1}
    assert read_notes() == notes_of(0)


def test_a_try_that_met_a_full_disk_is_not_counted() -> None:
    queue(2)

    def find_no_room(verdicts: Sequence[Verdict]) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$"
            )

    ended = work_on(Workshop(on_write=find_no_room), claim_batch())

    assert ended == {Settled.SNOOZED: 2}
    assert set(Job.objects.values_list("state", "tries", "snoozes")) == {(JobState.READY, 0, 1)}


def test_prepare_asks_for_the_whole_batch_and_only_on_an_error_for_each_job() -> None:
    queue(3)
    claim: Claim = claim_batch()
    calm, stumbling = Workshop(), Workshop(fate=fail(1, ValueError()))
    prepare(calm, claim.jobs)
    prepare(stumbling, claim.jobs)
    assert [len(call) for call in calm.calls] == [3]
    assert [len(call) for call in stumbling.calls] == [3, 1, 1, 1]


def test_ended_tries_are_counted_without_empty_entries() -> None:
    queue(1)
    assert work_on(Workshop(), claim_batch()) == Counter({Settled.FINISHED: 1})
