"""Workers racing for jobs, and against the sweeper, each on a connection of its own."""

import random
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from outbox.models import DeadLetter, FinishedJob, Job, JobState
from outbox.queue.claim import Claim
from outbox.queue.dead_letters import Replayed, replay_dead_letters
from outbox.queue.handlers import ClaimedJob, Outcome
from outbox.queue.jobs import NewJob, enqueue
from outbox.queue.keeper import renew_leases
from outbox.queue.retry import draw_tokens
from outbox.queue.settle import Settled
from outbox.queue.sweeper import return_lost_jobs, take_back_expired
from tests.outbox.queue.workshop import (
    LEASE,
    Workshop,
    claim_batch,
    make_claimer,
    make_jobs,
    name_subject,
    queue,
    read_notes,
    work_on,
)

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 15
# Their losses are forgotten, or the third would be the last.
JUDGE_SOME_DEAD = """
    WITH judged AS MATERIALIZED (
        SELECT job_id FROM outbox_job WHERE state = 1 AND random() < %s FOR UPDATE SKIP LOCKED
    )
    UPDATE outbox_job AS job SET leased_until = clock_timestamp(), lost_leases = 0
    FROM judged WHERE job.job_id = judged.job_id
"""


def race(*runners: Callable[[], Any]) -> list[Any]:
    """Run them at once, each on its own connection and released together; return what each returned."""
    barrier = threading.Barrier(len(runners))

    def run(runner: Callable[[], Any]) -> Any:
        try:
            connection.ensure_connection()
            barrier.wait(timeout=20)
            return runner()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(runners)) as pool:
        return [future.result(timeout=60) for future in [pool.submit(run, runner) for runner in runners]]


def let_leases_run_out() -> None:
    Job.objects.filter(state=JobState.RUNNING).update(leased_until=Now())


def stumble(job: ClaimedJob) -> Outcome:
    raise ValueError(job.job_id)


def test_workers_that_drain_a_queue_together_claim_each_job_once() -> None:
    queue(600)

    def drain() -> list[uuid.UUID]:
        claimer, taken = make_claimer(batch=7), []
        while claim := claimer.claim(by=None):
            taken += [job.job_id for job in claim.jobs]
        return taken

    claims = Counter(job_id for taken in race(*[drain] * 6) for job_id in taken)
    assert (len(claims), set(claims.values())) == (600, {1})


def test_the_late_and_the_new_holder_of_a_job_have_one_effect_between_them() -> None:
    for number in range(ROUNDS):
        queue(1, first=number)
        late = claim_batch()
        let_leases_run_out()
        take_back_expired()
        new = claim_batch()
        ended = race(partial(work_on, Workshop(), late), partial(work_on, Workshop(), new))
        assert ended == [{Settled.LOST: 1}, {Settled.FINISHED: 1}]
    assert set(read_notes().values()) == {1}


def test_settling_and_taking_back_at_once_end_in_either_never_in_both() -> None:
    for number in range(ROUNDS):
        queue(20, first=100 * number)
        claim = claim_batch()
        let_leases_run_out()
        settled, (returned, buried) = race(partial(work_on, Workshop(), claim), partial(return_lost_jobs, []))
        assert settled[Settled.FINISHED] + returned == 20
        assert (settled[Settled.LOST], buried) == (returned, 0)
        assert Job.objects.filter(state=JobState.READY, lost_leases=1).count() == returned
        Job.objects.all().delete()
    assert set(read_notes().values()) == {1}


def test_two_sweepers_take_each_lost_job_back_once() -> None:
    queue(200)
    claimer = make_claimer()
    while claimer.claim(by=None):
        pass
    let_leases_run_out()
    assert sum(race(take_back_expired, take_back_expired)) == 200
    assert set(Job.objects.values_list("state", "lost_leases")) == {(JobState.READY, 1)}


def renew_often(claim: Claim) -> None:
    for _ in range(20):
        renew_leases(claim, LEASE)


def test_renewing_while_settling_never_deadlocks() -> None:
    for number in range(ROUNDS):
        queue(50, first=100 * number)
        claim = claim_batch()
        settled, _ = race(partial(work_on, Workshop(), claim), partial(renew_often, claim))
        assert settled == {Settled.FINISHED: 50}


def add(jobs: Sequence[NewJob]) -> int:
    with transaction.atomic():
        return len(enqueue(jobs))


def test_enqueueing_the_same_jobs_in_opposite_orders_adds_each_once_and_never_deadlocks() -> None:
    for number in range(ROUNDS):
        jobs = make_jobs(1000, first=1000 * number)
        assert sum(race(partial(add, jobs), partial(add, jobs[::-1]))) == 1000
    assert Job.objects.count() == 1000 * ROUNDS


def test_two_people_who_replay_a_dead_letter_at_once_make_one_job() -> None:
    queue(1)
    work_on(Workshop(fate=stumble), claim_batch())
    letter = DeadLetter.objects.get()

    def replay() -> Replayed:
        return replay_dead_letters(ids=[letter.id], by=None)[letter.id]

    assert sorted(race(*[replay] * 4)) == [Replayed.ALREADY_REPLAYED] * 3 + [Replayed.QUEUED]
    assert Job.objects.count() == 1


def test_workers_that_draw_on_the_budget_at_once_get_no_more_than_there_is() -> None:
    draw_tokens("note", first_tries=100, wanted=0)
    assert sum(race(*[partial(draw_tokens, "note", first_tries=0, wanted=8)] * 5)) == 20


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whatever_workers_and_sweepers_do_every_job_has_one_effect(seed: int) -> None:
    """A random run: workers that vanish with their batch or come back late with it, and a sweeper that judges them dead too early."""
    queue(300)
    late: list[Claim] = []
    lock = threading.Lock()

    def work(random_seed: int) -> Counter[Settled]:
        luck, claimer, ended = random.Random(random_seed), make_claimer(batch=12), Counter[Settled]()
        for _ in range(60):
            with lock:
                claim = late.pop(0) if late and luck.random() < 0.3 else None
            claim = claim or claimer.claim(by=None)
            if claim is None:
                continue
            if luck.random() < 0.25:
                with lock:
                    late.append(claim)  # frozen, or dead
            else:
                ended += work_on(Workshop(), claim)
        return ended

    def sweep(random_seed: int) -> Counter[Settled]:
        luck = random.Random(random_seed)
        for _ in range(60):
            with connection.cursor() as cursor:  # judge some holders dead, right or wrong
                cursor.execute(JUDGE_SOME_DEAD, [luck.random() / 2])
            return_lost_jobs([])
        return Counter()

    ended = race(
        *[partial(work, seed * 100 + number) for number in range(4)],
        partial(sweep, seed * 100 + 50),
    )
    ended += [work_on(Workshop(), claim) for claim in late]
    while Job.objects.exists():
        let_leases_run_out()
        take_back_expired()
        claimer = make_claimer()
        while rest := claimer.claim(by=None):
            ended.append(work_on(Workshop(), rest))
    total = sum(ended, Counter[Settled]())
    assert read_notes() == {name_subject(uuid.UUID(int=number)): 1 for number in range(300)}
    assert (total[Settled.FINISHED], FinishedJob.objects.count(), DeadLetter.objects.count()) == (300, 300, 0)
    assert total[Settled.LOST] > 0  # the run did what it is for
