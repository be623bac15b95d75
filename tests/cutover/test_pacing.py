"""A backfill lets others go first: it waits while the queue is old or a standby is behind, says why, and goes on by itself."""

import dataclasses
import threading
from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest
from django.db import connection, transaction
from django.utils import timezone

from config.cutover.backfilling import Backfilled, run_backfill
from config.cutover.pacing import (
    LARGEST_LAG,
    LONGEST_QUEUE,
    MIB,
    Pressure,
    find_reason_to_wait,
    read_pressure,
)
from gradebook.snapshots.phases import Phase
from outbox.consumers.staleness import ConsumerStatus
from outbox.log.reading import Position
from outbox.models import Job
from outbox.queue.jobs import NewJob, enqueue
from outbox.stopping import Stop
from tests.cutover.copies import enter
from tests.cutover.old_class import CatchUp, OldClass, catch_up, cutover, old
from tests.quorum.rig import Rig
from tests.quorum.rigged import rig, rigs, template
from tests.waiting import wait_until

__all__ = ["catch_up", "old", "rig", "rigs", "template"]

FRESH = ConsumerStatus(
    name="marksheet_history",
    state="running",
    generation=1,
    position=Position(),
    head=Position(),
    staleness=timedelta(0),
    budget=timedelta(seconds=5),
    heartbeat_at=None,
    is_rebuilding=False,
    parked_subjects=0,
)


@pytest.mark.parametrize(
    ("history", "standby_behind", "oldest_job", "reason"),
    [
        (0, 0, 0.0, None),
        (5, LARGEST_LAG, LONGEST_QUEUE, None),
        (6, 0, 0.0, "the history is 6 s behind. Are sequencer and consumers running?"),
        (0, LARGEST_LAG + MIB, 0.0, "the standby b is 33 MiB behind"),
        (0, 0, 10.6, "the oldest job has waited for 11 s. Is a worker running?"),
    ],
)
def test_reason_to_wait_is_whatever_is_over_its_bound(
    history: int, standby_behind: int, oldest_job: float, reason: str | None
) -> None:
    status = dataclasses.replace(FRESH, staleness=timedelta(seconds=history))
    assert find_reason_to_wait(Pressure(status, "b", standby_behind, oldest_job)) == reason


def run_until_helped(help_it: Callable[[], object]) -> tuple[Backfilled, list[str | None]]:
    """Run a backfill, help it out as soon as it says that it waits, and return what it did and said."""
    said: list[str | None] = []

    def wait_and_help() -> None:
        wait_until(lambda: said)
        try:
            help_it()
        finally:
            connection.close()

    helper = threading.Thread(target=wait_and_help)
    with Stop() as stop:
        helper.start()
        done = run_backfill(stop, rate=None, rehearse=False, report=lambda *_: None, say=said.append)
    helper.join(timeout=20)
    return done, said


@pytest.mark.django_db(transaction=True)
def test_backfill_waits_while_a_job_has_been_due_for_long(old: OldClass, catch_up: CatchUp) -> None:
    enter(Phase.BACKFILL)
    catch_up()
    since = timezone.now() - timedelta(minutes=2)
    with transaction.atomic():
        enqueue([NewJob(kind="grade", subject_id=uuid4(), group_id=uuid4(), tenant_id=uuid4(), run_at=since)])
    assert "A backfill would wait now: the oldest job has waited for 1" in cutover("status")
    done, said = run_until_helped(Job.objects.all().delete)
    assert (done.copies, done.is_complete) == (5, True)
    assert str(said[0]).startswith("waiting, the oldest job has waited for 1")
    assert said[-1] is None
    assert "would wait" not in cutover("status")


@pytest.mark.process
def test_backfill_waits_while_a_standby_is_behind(rig: Rig, old: OldClass, catch_up: CatchUp) -> None:
    enter(Phase.BACKFILL)
    catch_up()
    rig.wait_until_streaming("a", 2)
    rig.run("b", "SELECT pg_wal_replay_pause()")
    rig.run(
        "a", "SELECT pg_logical_emit_message(false, 'test', repeat('x', 1000000)) FROM generate_series(1, 40)"
    )
    wait_until(lambda: read_pressure().standby_behind > LARGEST_LAG)
    assert read_pressure().standby == "b"

    done, said = run_until_helped(lambda: rig.run("b", "SELECT pg_wal_replay_resume()"))

    assert (done.copies, done.is_complete) == (5, True)
    assert str(said[0]).startswith("waiting, the standby b is ")
    assert said[-1] is None


@pytest.mark.django_db(transaction=True)
def test_application_may_ask_how_far_standbys_are(app_database_url: str) -> None:
    with psycopg.connect(app_database_url) as app:
        assert app.execute("SELECT name, behind FROM outbox_standby_lag()").fetchall() == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute("SELECT pg_promote()")
