"""D13: the pooler between us and PostgreSQL is killed and started again while hand-ins come."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.db import connection

from exams.models import Submission
from outbox.models import FinishedJob
from tests.benchmarks.hall import Hall
from tests.load import run_load
from tests.pooler import Pooler, pooler
from tests.processes.running import Running
from tests.serving import serving
from tests.waiting import wait_until

__all__ = ["pooler"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process, pytest.mark.timeout(900)]

RATE = 150  # hand-ins a second


@pytest.mark.parametrize(("seconds", "kills"), [(6, 2), pytest.param(60, 20, marks=pytest.mark.chaos)])
def test_pooler_killed_again_and_again_costs_no_hand_in(
    process_environment: Mapping[str, str], pooler: Pooler, tmp_path: Path, seconds: int, kills: int
) -> None:
    hall = Hall(tmp_path)
    file = hall.write_requests(2 * RATE * seconds)
    address = pooler.url(str(connection.settings_dict["NAME"]))
    through = {**process_environment, "DATABASE_URL": address, "DATABASE_OWNER_URL": address}
    with ExitStack() as stack:
        gate = stack.enter_context(serving(through))
        processes = [
            stack.enter_context(Running(command, environment=through, log=tmp_path / command))
            for command in ("run_worker", "run_sequencer", "sweep")
        ]
        pool = stack.enter_context(ThreadPoolExecutor(1))
        loading = pool.submit(run_load, gate.port, file, connections=128, seconds=seconds, rate=RATE)
        for _ in range(kills):
            done = Submission.objects.count()
            wait_until(lambda: Submission.objects.count() >= done + RATE)  # noqa: B023
            pooler.kill()
            pooler.start()
        load = loading.result()
        wait_until(lambda: FinishedJob.objects.count() == Submission.objects.count(), seconds=60)
        assert [process.has_ended for process in processes] == [False] * len(processes)
    tell(load)
    assert load.answers == {"202": Submission.objects.count()}
    assert load.answers["202"] > RATE * kills
    if seconds >= 60:
        assert load.p99_ms <= 5_000


def tell(figure: object) -> None:
    print(f"\n{figure}")  # noqa: T201 - the figures are what a full run is for
