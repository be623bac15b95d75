"""How work enters the queue: once, with its cause, and never before the commit."""

import datetime as dt
import uuid

import psycopg
import pytest
from django.db import connection
from django.db.transaction import TransactionManagementError
from pytest_django import DjangoAssertNumQueries

from outbox.models import FinishedJob, Job, JobState, Lane
from outbox.queue.handlers import ClaimedJob, Outcome
from outbox.queue.jobs import enqueue, job_id_for
from tests.outbox.queue.workshop import (
    EXAM,
    KIND,
    TENANT,
    Workshop,
    claim_batch,
    make_claimer,
    make_jobs,
    numbers_of,
    queue,
    read_row,
    work_on,
)


def stumble(job: ClaimedJob) -> Outcome:
    raise ValueError(job.job_id)


NOON = dt.datetime(2026, 6, 1, 12, tzinfo=dt.UTC)


def test_job_id_never_changes_for_the_same_work() -> None:
    # Written down: jobs queued by an older version must meet the ids of a newer one.
    assert job_id_for("grade", uuid.UUID(int=7)) == uuid.UUID("daadf48b-70be-5dee-b913-da0b97605692")
    assert job_id_for("regrade", uuid.UUID(int=7)) != job_id_for("grade", uuid.UUID(int=7))


@pytest.mark.django_db
def test_enqueue_writes_what_it_was_given_and_defaults_for_the_rest() -> None:
    (job,) = make_jobs(1, lane=Lane.BACKLOG, priority=-3, run_at=NOON)
    assert enqueue([job]) == [job.job_id]
    row = read_row(Job)
    row.pop("created_at")
    assert row == {
        "tenant_id": TENANT,
        "group_id": EXAM,
        "job_id": job.job_id,
        "kind": KIND,
        "subject_id": uuid.UUID(int=0),
        "lane": Lane.BACKLOG,
        "priority": -3,
        "state": JobState.READY,
        "run_at": NOON,
        "tries": 0,
        "snoozes": 0,
        "lost_leases": 0,
        "lease_id": None,
        "leased_until": None,
        "leased_by": None,
        "history": [],
    }


@pytest.mark.django_db
def test_the_five_columns_of_the_gate_are_enough() -> None:
    (job,) = make_jobs(1, run_at=None)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO outbox_job (tenant_id, group_id, job_id, kind, subject_id) VALUES (%s, %s, %s, %s, %s)",
            [job.tenant_id, job.group_id, job.job_id, job.kind, job.subject_id],
        )
    by_the_gate = read_row(Job)
    Job.objects.all().delete()
    enqueue([job])
    ours = read_row(Job)
    for row in (by_the_gate, ours):
        assert abs(row.pop("created_at") - row.pop("run_at")) < dt.timedelta(seconds=1)
    assert by_the_gate == ours


@pytest.mark.django_db
def test_enqueue_adds_only_what_is_not_there_yet() -> None:
    enqueue(make_jobs(2))
    jobs = make_jobs(4)
    assert set(enqueue(jobs)) == {job.job_id for job in jobs[2:]}
    assert Job.objects.count() == 4


@pytest.mark.django_db
def test_enqueue_of_nothing_asks_nothing(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        assert enqueue([]) == []


@pytest.mark.django_db
@pytest.mark.parametrize("count", [1, 3])
def test_enqueue_is_one_statement(count: int, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        enqueue(make_jobs(count))


@pytest.mark.django_db(transaction=True)
def test_enqueue_refuses_to_run_outside_the_transaction_of_its_cause() -> None:
    with pytest.raises(TransactionManagementError):
        enqueue(make_jobs(1))
    assert Job.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_enqueue_again_after_the_end_makes_the_job_anew() -> None:
    queue(1)
    work_on(Workshop(), claim_batch())
    (job,) = queue(1)
    assert numbers_of(claim_batch()) == [0]
    assert FinishedJob.objects.get().job_id == job.job_id


@pytest.mark.django_db(transaction=True)
def test_a_job_is_claimable_only_after_the_commit_and_gone_after_a_rollback(database_url: str) -> None:
    """O12: work must not be announced before the transaction that causes it has committed."""
    insert = (
        "INSERT INTO outbox_job (tenant_id, group_id, job_id, kind, subject_id) VALUES (%s, %s, %s, %s, %s)"
    )
    committed, rolled_back = ([TENANT, EXAM, job.job_id, KIND, job.subject_id] for job in make_jobs(2))
    with psycopg.connect(database_url) as gate:
        gate.execute(insert, committed)
        assert make_claimer().claim(by=None) is None
        gate.commit()
        assert numbers_of(make_claimer().claim(by=None)) == [0]
        gate.execute(insert, rolled_back)
        assert make_claimer().claim(by=None) is None
        gate.rollback()
    assert make_claimer().claim(by=None) is None
