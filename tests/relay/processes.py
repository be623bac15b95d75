"""Real processes for the tests of the relay: the relay itself, Celery's workers, and what they told."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from uuid import UUID

import pytest
from django.db import connection

from outbox.effects import Effect, register_effect, unregister_effect
from outbox.effects.publishing import CeleryPublisher
from outbox.effects.upkeep import Resender
from outbox.models import EffectReceipt
from tests.processes.running import Running
from tests.relay.effects import CAUSED
from tests.relay.place.apps import CREATE, tell
from tests.waiting import wait_until

SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.relay.place.settings"}
WORKER = ("-m", "celery", "--app", "config.celery", "worker", "--pool", "threads", "--concurrency", "2")
QUIET = ("--without-gossip", "--without-mingle", "--loglevel", "INFO")
Start = Callable[..., Running]


@pytest.fixture
def start_process(process_environment: dict[str, str], tmp_path: Path) -> Start:
    """Start `manage.py …` or, with `program`, something else; keywords are added to its environment."""
    number = count()

    def start(*arguments: str, program: tuple[str, ...] = ("manage.py",), **environment: str) -> Running:
        log = tmp_path / f"process-{next(number)}.log"
        return Running(
            *arguments, program=program, environment=process_environment | SETTINGS | environment, log=log
        )

    return start


@pytest.fixture
def told(transactional_db: None) -> Iterator[Callable[[], Counter[UUID]]]:
    """Count how often each event was told; the effect is known in this process too."""
    with connection.cursor() as cursor:
        cursor.execute(CREATE)
    register_effect(Effect("tell", frozenset({CAUSED}), tell))

    def read() -> Counter[UUID]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT event_id FROM effects_told")
            return Counter(event_id for (event_id,) in cursor.fetchall())

    yield read
    unregister_effect("tell")
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE effects_told")


@contextmanager
def celery_worker(start: Start, url: str, **environment: str) -> Iterator[Running]:
    """Run a worker of Celery's on this broker, ready to work."""
    with start(*QUIET, program=WORKER, CELERY_BROKER_URL=url, **environment) as worker:
        wait_until(lambda: worker.has_ended or " ready." in worker.output, seconds=60)
        yield worker


def resend_everything(url: str) -> int:
    """Let the sweeper's minute pass, and send again what has not happened; return how much."""
    EffectReceipt.objects.exclude(state__in=["done", "failed"]).update(
        resend_at="2000-01-01T00:00Z", due_at="2000-01-01T00:00Z"
    )
    publisher = CeleryPublisher(url)
    try:
        return Resender(publisher).resend()
    finally:
        publisher.close()


def resend_until_done(url: str, events: int) -> None:
    """Wait until so many effects have happened, and send again, as the sweeper does, whenever none has for three seconds."""
    done = -1

    def is_done() -> bool:
        nonlocal done
        if all_done(events):
            return True
        before, done = done, EffectReceipt.objects.filter(state="done").count()
        if done == before:  # else what was sent is being worked on: to send it again would only pile it up
            resend_everything(url)
        return False

    wait_until(is_done, seconds=90 + events / 10, look=3)


def all_done(events: int) -> bool:
    """Whether so many effects are done, and nothing is open."""
    states = Counter(EffectReceipt.objects.values_list("state", flat=True))
    return states == Counter(done=events)
