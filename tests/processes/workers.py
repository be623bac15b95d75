"""Worker processes for a test: starting them, and taking back what they leave behind."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from outbox.models import Job, JobState
from tests.outbox.queue.sweeping import sweeping_on
from tests.processes.running import Running
from tests.waiting import wait_until

Start = Callable[..., Running]


@pytest.fixture
def start(process_environment: dict[str, str], tmp_path: Path) -> Start:
    """Start a command, with the test's own kind of work installed; keywords are added to its environment."""
    settings = {"DJANGO_SETTINGS_MODULE": "tests.processes.workplace.settings"}
    number = count()

    def start(*arguments: str, **environment: str) -> Running:
        log = tmp_path / f"{arguments[0]}-{next(number)}.log"
        return Running(*arguments, environment=process_environment | settings | environment, log=log)

    return start


def sweep_until(condition: Callable[[], bool]) -> None:
    """Sweep until this is so."""
    with sweeping_on():
        wait_until(condition, seconds=60)


def nothing_is_running() -> bool:
    return not Job.objects.filter(state=JobState.RUNNING).exists()
