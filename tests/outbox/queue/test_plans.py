"""What the queue's statements cost: by index, and the same whatever waits, has finished, or cannot be cleaned away (O11, O26)."""

import json
import uuid

import psycopg
import pytest
from django.db import connection

from outbox.queue.claim import list_ready_streams, name_held_jobs
from outbox.queue.keeper import SIGN_OF_LIFE
from outbox.queue.streams import FRESH_FOR, Stream
from tests.outbox.queue.plans import (
    A_LEVEL_MORE,
    EXAMS,
    FINISHED,
    WAITING,
    count_pages,
    count_pages_of_search,
    explain,
    explain_claim,
    fill,
    indexes_of,
    insert,
    parameters_of,
    tables_read_whole,
)
from tests.outbox.queue.workshop import (
    EXAM,
    KIND,
    LEASE,
    TENANT,
    Workshop,
    arrival,
    claim_batch,
    get_start,
    make_claimer,
    make_jobs,
    queue,
    work_on,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_claim_reads_the_ready_index_and_the_primary_key_only() -> None:
    fill(WAITING, 50_000)
    plan = explain_claim()
    assert indexes_of(plan) == {"jobs_ready_idx", "outbox_job_pkey"}
    assert tables_read_whole(plan) == []


def test_a_claim_uses_its_indexes_although_the_planner_believes_the_table_empty() -> None:
    """The queue is empty most of the time, and the burst comes faster than any ANALYZE."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE outbox_job")
    insert(WAITING, 50_000)
    plan = explain_claim()
    assert "jobs_ready_idx" in indexes_of(plan)
    assert tables_read_whole(plan) == []


def test_a_claim_touches_as_many_pages_with_fifty_times_the_waiting_and_many_finished_jobs() -> None:
    """O11: claim time must not follow the number of rows."""
    fill(WAITING, 1_000)
    few = count_pages(explain_claim())
    fill(WAITING, 49_000)
    fill(FINISHED, 50_000)
    assert count_pages(explain_claim()) <= few + A_LEVEL_MORE


def test_the_look_for_streams_costs_one_probe_a_stream() -> None:
    fill(WAITING, 50_000)
    plan = explain("list_ready_streams", {"fresh_for": FRESH_FOR})
    assert indexes_of(plan) == {"jobs_ready_idx"}
    assert tables_read_whole(plan) == []
    assert count_pages(plan) <= 5 * (len(EXAMS) + 1)  # the last probe finds no further stream


def test_the_look_for_streams_costs_two_probes_a_stream_with_old_work() -> None:
    insert(WAITING, 25_000, since=get_start() - 2 * FRESH_FOR)
    fill(WAITING, 25_000)
    assert [stream.served_in for stream in list_ready_streams()] == [0] * len(EXAMS) + [1] * len(EXAMS)
    plan = explain("list_ready_streams", {"fresh_for": FRESH_FOR})
    assert indexes_of(plan) == {"jobs_ready_idx"}
    assert tables_read_whole(plan) == []
    assert count_pages(plan) <= 10 * (len(EXAMS) + 1)


def test_jobs_put_off_to_later_are_not_walked_through() -> None:
    """After an outage thousands of retries wait for their time: a claim must not read past them to find nothing."""
    insert(WAITING, 20_000, since=get_start().replace(year=2099))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE outbox_job")
    queue(10)
    (stream,) = list_ready_streams()
    plan = explain("claim_jobs", parameters_of(stream))
    assert plan["Actual Rows"] == 10
    assert count_pages(plan) < 200


def test_a_claim_costs_the_same_under_a_snapshot_held_open(database_url: str) -> None:
    """O26, the forward hint: rows that were settled but cannot be cleaned away are not walked over again and again."""
    queue(3000)
    with psycopg.connect(database_url) as dump:
        dump.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        dump.execute("SELECT count(*) FROM outbox_job")
        claimer = make_claimer()
        claimer.claim(by=None)
        claimer._next_look = float("inf")  # no new look: this second belongs to the hint
        at_first = explain("claim_jobs", parameters_of(*claimer._roster.take_turns(KIND, 0, 50)))  # type: ignore[arg-type]
        settled = []
        for _ in range(50):
            claim = claimer.claim(by=None)
            assert claim
            settled.append(count_pages(explain("lock_held_jobs", name_held_jobs(claim.jobs))))
            work_on(Workshop(), claim)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM outbox_job")
        (stream,) = claimer._roster.take_turns(KIND, 0, 50)  # type: ignore[arg-type]
        with_hint = explain("claim_jobs", parameters_of(stream))
        from_the_start = Stream(KIND, stream.served_in, stream.lane, EXAM, 0, after_run_at=arrival(-1), age=0)
        without_hint = explain("claim_jobs", parameters_of(from_the_start))
    assert count_pages_of_search(with_hint) <= count_pages_of_search(at_first) + 5
    assert (
        count_pages_of_search(without_hint) >= count_pages_of_search(with_hint) * 5
    )  # it is the hint that does it
    assert settled[-1] <= settled[0] * 1.5


@pytest.mark.parametrize(
    ("statement", "indexes"),
    [
        ("lock_held_jobs", {"outbox_job_pkey"}),
        ("finish_jobs", {"outbox_job_pkey", "outbox_finishedjob_pkey"}),
        ("release_jobs", {"outbox_job_pkey"}),
        ("renew_leases", {"outbox_job_pkey"}),
        ("expire_leases", {"outbox_job_pkey"}),
    ],
)
def test_ending_a_try_goes_by_primary_key(statement: str, indexes: set[str]) -> None:
    queue(50)
    claim = claim_batch()
    fill(WAITING, 20_000)
    plan = explain(statement, name_held_jobs(claim.jobs) | {"lease": LEASE})
    assert indexes_of(plan) | set(plan.get("Conflict Arbiter Indexes", [])) == indexes
    assert tables_read_whole(plan) == []


def test_taking_back_expired_leases_reads_the_running_index() -> None:
    queue(50)
    claim_batch()
    fill(WAITING, 20_000)
    plan = explain("return_lost_jobs", {"dead_workers": [uuid.uuid4()], "losses_allowed": 3, "at_most": 500})
    assert "jobs_running_idx" in indexes_of(plan)
    assert tables_read_whole(plan) == []


def test_the_look_for_silent_workers_reads_the_running_index() -> None:
    queue(50)
    claim_batch(by=uuid.uuid4())
    fill(WAITING, 20_000)
    plan = explain("list_silent_workers", {"namespace": SIGN_OF_LIFE})
    assert "jobs_running_idx" in indexes_of(plan)
    assert "outbox_job" not in tables_read_whole(plan)


@pytest.mark.parametrize("losses", [1, 2])
def test_suspects_are_found_by_their_own_index(losses: int) -> None:
    fill(WAITING, 20_000)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE outbox_job SET lost_leases = 1 WHERE run_at < %s", [arrival(10)])
        cursor.execute("VACUUM ANALYZE outbox_job")
    plan = explain(
        "claim_suspects",
        {
            "kind": KIND,
            "losses": losses,
            "at_most": 5,
            "lease_id": uuid.uuid4(),
            "lease": LEASE,
            "leased_by": None,
        },
    )
    assert indexes_of(plan) == {"jobs_suspect_idx", "outbox_job_pkey"}
    assert tables_read_whole(plan) == []


def test_enqueueing_asks_the_unique_indexes_only() -> None:
    fill(WAITING, 20_000)
    fill(FINISHED, 20_000)
    rows: list[dict[str, object]] = [
        {"job_id": str(job.job_id), "tenant_id": str(TENANT), "group_id": str(EXAM), "kind": KIND}
        | {"subject_id": str(job.subject_id), "lane": 0, "priority": 0, "run_at": None}
        for job in make_jobs(50)
    ]
    assert tables_read_whole(explain("enqueue_jobs", {"jobs": json.dumps(rows)})) == []


def test_the_hot_table_is_tuned_for_churn() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT unnest(reloptions) FROM pg_class WHERE relname = 'outbox_job' ORDER BY 1")
        options = [option for (option,) in cursor.fetchall()]
    assert options == [
        "autovacuum_analyze_scale_factor=0",
        "autovacuum_analyze_threshold=5000",
        "autovacuum_vacuum_cost_delay=0",
        "autovacuum_vacuum_scale_factor=0",
        "autovacuum_vacuum_threshold=2000",
        "fillfactor=70",
    ]
