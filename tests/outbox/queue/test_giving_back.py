"""Jobs whose try failed, or was put off: tried again, given up with every error, released or snoozed."""

import datetime as dt
import uuid
from collections.abc import Callable, Sequence

import pytest
from django.db import OperationalError
from django.db.models import F
from django.db.models.functions import Now

from outbox.models import DeadLetter, Job, JobState
from outbox.models.jobs import Cause
from outbox.queue.handlers import ClaimedJob, Done, Outcome, Transient, Verdict
from outbox.queue.settle import Failure, Settled, expire, release, settle, snooze
from tests.outbox.queue.trouble import BUSY, fail, take_away
from tests.outbox.queue.workshop import (
    Workshop,
    claim_batch,
    queue,
    work_on,
)

pytestmark = pytest.mark.django_db(transaction=True)


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
