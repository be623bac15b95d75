"""What the queue forgets, and when."""

import datetime as dt
import uuid

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone
from pytest_django import Settings

from outbox.models import FinishedJob, Job
from outbox.models.jobs import QueueTally
from outbox.queue import retention
from outbox.queue.tallies import Teller
from tests.outbox.queue.plans import FINISHED, explain, fill, indexes_of, tables_read_whole
from tests.outbox.queue.workshop import Workshop, claim_batch, number_of, queue, work_on

pytestmark = pytest.mark.django_db(transaction=True)


def finish(count: int) -> None:
    queue(count)
    work_on(Workshop(), claim_batch())
    assert not Job.objects.exists()


def list_finished() -> list[int]:
    return sorted(number_of(subject) for subject in FinishedJob.objects.values_list("subject_id", flat=True))


def test_finished_jobs_are_forgotten_after_the_time_set(settings: Settings) -> None:
    settings.JOB_RETENTION_DAYS = 10
    finish(4)
    for number, days in ((0, 11), (1, 10.001), (2, 9.999)):
        FinishedJob.objects.filter(subject_id=uuid.UUID(int=number)).update(
            finished_at=F("finished_at") - dt.timedelta(days=days)
        )
    assert retention.delete_old_finished_jobs() == 2
    assert list_finished() == [2, 3]


def test_a_job_done_again_is_remembered_from_its_last_time() -> None:
    finish(1)
    FinishedJob.objects.update(finished_at=timezone.now() - dt.timedelta(days=400))
    finish(1)
    assert retention.delete_old_finished_jobs() == 0
    assert list_finished() == [0]


def test_a_turn_deletes_only_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 2)
    monkeypatch.setattr(retention, "STATEMENTS_A_TURN", 2)
    finish(7)
    FinishedJob.objects.update(finished_at=timezone.now() - dt.timedelta(days=400))
    assert [retention.delete_old_finished_jobs() for _ in range(3)] == [4, 3, 0]


def test_the_oldest_are_found_by_their_index() -> None:
    fill(FINISHED, 20_000)
    plan = explain("delete_old_finished_jobs", {"days": 30.0, "at_most": 500})
    assert indexes_of(plan) == {"finished_jobs_age_idx"}
    assert tables_read_whole(plan) == []


def test_tallies_of_minutes_long_ago_are_forgotten() -> None:
    for _ in range(2):
        teller = Teller()
        teller.add(finished=1)
        teller.tell()
    old = QueueTally.objects.all()[0].teller
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE outbox_queuetally SET minute = minute - interval '31 days' WHERE teller = %s", [old]
        )
    assert retention.delete_old_tallies() == 1
    assert QueueTally.objects.exclude(teller=old).count() == 1
