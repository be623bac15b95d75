"""The keeper: leases last while work goes on, and PostgreSQL knows whether the worker lives."""

import datetime as dt
import uuid
from collections.abc import Iterator

import psycopg
import pytest
from django.db.models.functions import Now

from outbox.models import Heartbeat, Job
from outbox.processes import Heart
from outbox.queue.keeper import Keeper, renew_leases
from outbox.queue.sweeper import list_silent_workers
from tests.outbox.queue.workshop import LEASE, Workshop, claim_batch, queue, work_on
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
SHORT = dt.timedelta(seconds=0.6)


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    """A running keeper with a lease of 0.6 s, which it renews each 0.2 s."""
    with Keeper(Heart("worker"), SHORT) as keeper:
        yield keeper


def test_renewing_makes_a_batch_last_from_now() -> None:
    queue(2)
    claim = claim_batch()
    Job.objects.update(leased_until=Now() + dt.timedelta(seconds=1))
    assert renew_leases(claim, LEASE) == 2
    assert Job.objects.filter(leased_until__gt=Now() + LEASE - dt.timedelta(seconds=10)).count() == 2


def test_renewing_finds_nothing_when_the_batch_was_lost() -> None:
    queue(2)
    claim = claim_batch()
    Job.objects.update(lease_id=uuid.uuid4())
    assert renew_leases(claim, LEASE) == 0


def test_renewing_never_waits_for_a_row_that_is_being_settled(database_url: str) -> None:
    queue(2)
    claim = claim_batch()
    with psycopg.connect(database_url) as settling:
        settling.execute("SELECT FROM outbox_job WHERE job_id = %s FOR UPDATE", [claim.jobs[0].job_id])
        assert renew_leases(claim, LEASE) == 1


def test_keeper_renews_the_batch_in_hand_until_the_block_ends(keeper: Keeper) -> None:
    queue(1)
    claim = claim_batch()
    with keeper.holding(claim) as hold:
        Job.objects.update(leased_until=Now())
        wait_until(lambda: Job.objects.filter(leased_until__gt=Now()).exists())
        assert not hold.lost
    Job.objects.update(leased_until=Now())
    untouched = Job.objects.get().leased_until
    beats = Heartbeat.objects.get().seen_at
    wait_until(lambda: Heartbeat.objects.get().seen_at > beats)  # the keeper went on, and did not renew
    assert Job.objects.get().leased_until == untouched


def test_keeper_tells_when_the_batch_is_lost(keeper: Keeper) -> None:
    queue(1)
    with keeper.holding(claim_batch()) as hold:
        Job.objects.update(lease_id=uuid.uuid4())
        wait_until(lambda: hold.lost)


def test_keeper_shows_life_as_long_as_it_runs() -> None:
    queue(1)
    with Keeper(Heart("worker"), SHORT) as keeper:
        assert keeper.worker is not None
        claim_batch(by=keeper.worker)
        assert list_silent_workers() == []
    wait_until(lambda: list_silent_workers() == [keeper.worker])


def test_keeper_shows_life_again_after_its_connection_was_cut(keeper: Keeper, database_url: str) -> None:
    worker = keeper.worker
    queue(1)
    claim_batch(by=worker)
    cut = (
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1818846821"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    with psycopg.connect(database_url, autocommit=True) as admin:
        assert len(admin.execute(cut).fetchall()) == 1
    wait_until(lambda: keeper.worker is None or list_silent_workers() == [])
    wait_until(lambda: keeper.worker == worker and list_silent_workers() == [])


def test_keeper_beats_for_its_worker_and_signs_off_at_the_end() -> None:
    with Keeper(Heart("worker"), SHORT) as keeper:
        wait_until(lambda: Heartbeat.objects.filter(role="worker").exists())
        assert Heartbeat.objects.get().incarnation == keeper.worker
    assert not Heartbeat.objects.exists()


def test_work_under_a_keeper_is_settled_as_usual(keeper: Keeper) -> None:
    queue(3)
    claim = claim_batch(by=keeper.worker)
    with keeper.holding(claim):
        work_on(Workshop(), claim)
    assert not Job.objects.exists()
