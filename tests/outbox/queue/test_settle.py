"""Ending a try: all of it or nothing, only by the holder of the lease, and one bad job never spoils its neighbours."""

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from django.db import OperationalError, connection
from django.db.models import F
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from psycopg import errors

from outbox.models import DeadLetter, FinishedJob, Job, JobState
from outbox.models.jobs import Cause
from outbox.queue.claim import Claim
from outbox.queue.handlers import ClaimedJob, Done, Outcome, PermanentFailure, Transient, Verdict
from outbox.queue.settle import Failure, Settled, expire, prepare, release, settle, snooze
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
BUSY = OperationalError("deadlock detected")
BUSY.__cause__ = errors.DeadlockDetected()


def take_away(*numbers: int) -> None:
    """Give these jobs to another worker, as after an expired lease."""
    Job.objects.filter(subject_id__in=[uuid.UUID(int=number) for number in numbers]).update(
        lease_id=uuid.uuid4(), tries=F("tries") + 1
    )


def notes_of(*numbers: int) -> dict[str, int]:
    return {name_subject(uuid.UUID(int=number)): 1 for number in numbers}


def fail(number: int, error: Exception) -> Callable[[ClaimedJob], Outcome]:
    """Return a fate that raises for one job."""

    def fate(job: ClaimedJob) -> Outcome:
        if number_of(job.subject_id) == number:
            raise error
        return Done(job)

    return fate


def fail_writing(number: int, error: Exception) -> Callable[[Sequence[Verdict]], None]:
    """Return a disturbance that raises when this job is among those written."""

    def on_write(verdicts: Sequence[Verdict]) -> None:
        if number in [number_of(verdict.job.subject_id) for verdict in verdicts]:
            raise error

    return on_write


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


def test_a_failed_try_is_given_back_with_its_history() -> None:
    queue(1)
    holder = uuid.UUID(int=77)
    claim = claim_batch(by=holder)
    assert work_on(Workshop(fate=lambda job: Transient(job, BUSY)), claim) == {Settled.RETRIED: 1}
    row = Job.objects.annotate(wait=F("run_at") - Now()).get()
    assert (row.state, row.tries, row.lease_id, row.leased_until, row.leased_by) == (
        JobState.READY,
        1,
        None,
        None,
        None,
    )
    assert row.wait <= dt.timedelta(seconds=2)
    (entry,) = row.history
    assert entry.pop("at")
    assert entry == {
        "cause": "failed",
        "try": 1,
        "worker": str(holder),
        "error_class": "OperationalError",
        "error_detail": "deadlock detected",
    }


def test_a_handler_may_call_any_error_transient() -> None:
    queue(1)
    workshop = Workshop(fate=lambda job: Transient(job, RuntimeError("the proctor's service is away")))
    assert work_on(workshop, claim_batch()) == {Settled.RETRIED: 1}


def test_the_third_failed_try_ends_among_the_dead_letters_with_every_error() -> None:
    (job,) = queue(1)
    for number in (1, 2, 3):
        Job.objects.update(run_at=Now())
        workshop = Workshop(fate=lambda job: Transient(job, OperationalError(f"failure {job.tries}")))
        ended = work_on(workshop, claim_batch())
        assert ended == ({Settled.RETRIED: 1} if number < 3 else {Settled.BURIED: 1})
    letter = DeadLetter.objects.get()
    assert (letter.job_id, letter.subject_id, letter.cause, letter.tries) == (
        job.job_id,
        job.subject_id,
        Cause.EXHAUSTED,
        3,
    )
    assert [entry["error_detail"] for entry in letter.history] == ["failure 1", "failure 2", "failure 3"]
    assert letter.error_detail == "failure 3"
    assert not Job.objects.exists()


def test_a_failure_of_a_lost_job_changes_nothing() -> None:
    queue(2)
    claim = claim_batch()
    take_away(0, 1)
    outcomes: list[Verdict | Failure] = [
        Failure(claim.jobs[0], BUSY, transient=True),
        Failure(claim.jobs[1], ValueError(), transient=False),
    ]
    before = list(Job.objects.values().order_by("job_id"))
    assert settle(Workshop(), outcomes) == {Settled.LOST: 2}
    assert list(Job.objects.values().order_by("job_id")) == before
    assert not DeadLetter.objects.exists()


def test_an_error_that_quotes_hostile_text_is_stored_readably() -> None:
    queue(1)
    hostile = "NUL \0, half a pair \ud83d, whole pair \U0001f600, " + "x" * 5000
    work_on(Workshop(fate=fail(0, ValueError(hostile))), claim_batch())
    letter = DeadLetter.objects.get()
    assert letter.error_detail == ("NUL \ufffd, half a pair ?, whole pair \U0001f600, " + "x" * 5000)[:2000]


def test_a_job_that_dies_again_updates_its_open_dead_letter() -> None:
    queue(1)
    work_on(Workshop(fate=fail(0, ValueError("first"))), claim_batch())
    queue(1)
    work_on(Workshop(fate=fail(0, ValueError("second"))), claim_batch())
    assert DeadLetter.objects.get().error_detail == "second"


@pytest.mark.parametrize(
    "prepare_wrongly",
    [
        lambda _: [],
        lambda jobs: [Done(job) for job in jobs] * 2,
        lambda jobs: [Done(jobs[0])] * len(jobs) if len(jobs) > 1 else [],
    ],
    ids=["none", "twice", "the same"],
)
def test_a_handler_that_does_not_answer_for_each_job_has_a_defect(
    prepare_wrongly: Callable[[Sequence[ClaimedJob]], Sequence[Outcome]], monkeypatch: pytest.MonkeyPatch
) -> None:
    queue(2)
    workshop = Workshop()
    monkeypatch.setattr(workshop, "prepare", prepare_wrongly)
    assert work_on(workshop, claim_batch()) == {Settled.BURIED: 2}
    assert set(DeadLetter.objects.values_list("cause", "error_class")) == {(Cause.DEFECT, "ValueError")}


def test_release_puts_the_jobs_back_as_if_they_had_not_been_claimed() -> None:
    queue(2)
    before = list(Job.objects.values().order_by("job_id"))
    claim = claim_batch()
    assert release(claim) == {Settled.RELEASED: 2}
    assert list(Job.objects.values().order_by("job_id")) == before


def test_release_leaves_a_lost_job_with_its_new_holder() -> None:
    queue(2)
    claim = claim_batch()
    take_away(1)
    assert release(claim) == {Settled.RELEASED: 1, Settled.LOST: 1}
    assert set(Job.objects.values_list("subject_id", "state")) == {
        (uuid.UUID(int=0), JobState.READY),
        (uuid.UUID(int=1), JobState.RUNNING),
    }


def test_snooze_puts_a_job_off_without_counting_the_try() -> None:
    queue(1)
    claim = claim_batch()
    assert snooze(claim.jobs, [30.0]) == {Settled.SNOOZED: 1}
    row = Job.objects.annotate(wait=F("run_at") - Now()).get()
    assert (row.state, row.tries, row.snoozes, row.lease_id) == (JobState.READY, 0, 1, None)
    assert dt.timedelta(seconds=20) < row.wait <= dt.timedelta(seconds=30)


def test_expire_lets_go_of_what_is_still_held_and_of_nothing_else() -> None:
    queue(2)
    claim = claim_batch()
    take_away(1)
    expire(claim)
    expired = Job.objects.filter(leased_until__lte=Now()).values_list("subject_id", flat=True)
    assert list(expired) == [uuid.UUID(int=0)]


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
