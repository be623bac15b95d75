"""The database restarts in the middle of a batch: worker and sweeper come back by themselves, and every job is done once (O10)."""

import signal
import uuid
from pathlib import Path

import psycopg
import pytest

from config.postgres import Cluster
from config.postgres.place import SUPERUSER
from tests.outbox.queue.workshop import EXAM, KIND, TENANT
from tests.processes.own_server import fetch, get_environment, own_server
from tests.processes.running import Running
from tests.processes.workplace.apps import FIRST_WAITER, GATE
from tests.waiting import wait_until

__all__ = ["own_server"]
pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]
INSERT = """
    INSERT INTO outbox_job (tenant_id, group_id, job_id, kind, subject_id) VALUES (%s, %s, gen_random_uuid(), %s, %s)
"""
COUNT_RUNNING = "SELECT count(*) FROM outbox_job WHERE state = 1"
COUNT_FINISHED = "SELECT count(*) FROM outbox_finishedjob"
NOTES = "SELECT subject, count(*) FROM outbox_event WHERE kind = 'Noted' GROUP BY subject ORDER BY subject"


def queue(cluster: Cluster, numbers: list[int]) -> None:
    for number in numbers:
        fetch(cluster, INSERT, TENANT, EXAM, KIND, uuid.UUID(int=number))


def test_a_batch_in_hand_when_the_database_restarts_is_done_once(own_server: Cluster, tmp_path: Path) -> None:
    environment = get_environment(own_server) | {
        "DJANGO_SETTINGS_MODULE": "tests.processes.workplace.settings"
    }
    numbers = [*range(20), FIRST_WAITER]
    queue(own_server, numbers)
    gate = psycopg.connect(own_server.url(SUPERUSER), autocommit=True)
    gate.execute("SELECT pg_advisory_lock(%s)", [GATE])
    with (
        Running("run_worker", environment=environment, log=tmp_path / "worker.log") as worker,
        Running("sweep", environment=environment, log=tmp_path / "sweep.log") as sweeper,
    ):
        wait_until(lambda: fetch(own_server, COUNT_RUNNING) == [(len(numbers),)], seconds=60)

        own_server.stop()
        own_server.start()

        wait_until(lambda: fetch(own_server, COUNT_FINISHED) == [(len(numbers),)], seconds=60)
        notes = sorted((f"note:{uuid.UUID(int=number)}", 1) for number in numbers)
        assert fetch(own_server, NOTES) == notes
        queue(own_server, [100])
        wait_until(lambda: fetch(own_server, COUNT_FINISHED) == [(len(numbers) + 1,)], seconds=60)
        for process in (worker, sweeper):
            assert not process.has_ended, process.output
            process.send(signal.SIGTERM)
        assert [worker.wait(), sweeper.wait()] == [0, 0]
    gate.close()
