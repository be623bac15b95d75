"""What the gate counts of itself, scraped from a real web server of two processes after real hand-ins."""

import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path

import httpx
import psutil
import pytest
from django.db import transaction
from prometheus_client import parser

from exams.models import Attempt, Submission
from tests import factories
from tests.posting import Poster, sitting_of
from tests.serving import WebServer, serving
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.django_db(transaction=True)]

HAND_INS = 12
_GATE = "handover_gate_"


@pytest.fixture
def web(process_environment: Mapping[str, str], tmp_path: Path) -> Iterator[WebServer]:
    """A web server that shares its counts with no other."""
    with serving({**process_environment, "HANDOVER_DATA": str(tmp_path)}, workers=2) as server:
        yield server


def scrape(server: WebServer) -> dict[str, float]:
    """Return the gate's samples that have no labels."""
    text = httpx.get(f"http://127.0.0.1:{server.port}/metrics", timeout=20).text
    samples = (sample for family in parser.text_string_to_metric_families(text) for sample in family.samples)
    return {sample.name.removeprefix(_GATE): sample.value for sample in samples if not sample.labels}


def test_gate_counts_its_groups_and_how_long_they_took(web: WebServer) -> None:
    sittings = [sitting_of(factories.attempt()) for _ in range(HAND_INS)]
    assert scrape(web)["group_size_count"] == 0
    with Poster(web.port) as poster, ThreadPoolExecutor(HAND_INS) as threads:
        answers = list(threads.map(lambda sitting: poster.hand_in(sitting, {"q1": "a"}), sittings))
    assert [answer.status for answer in answers] == [202] * HAND_INS

    seen = scrape(web)

    assert seen["group_size_sum"] == HAND_INS
    assert seen["group_seconds_count"] == seen["group_size_count"]
    assert 1 <= seen["group_size_count"] <= HAND_INS
    assert seen["group_seconds_sum"] > 0
    # another process than the one that has just answered may be asked
    wait_until(lambda: scrape(web)["waiting"] == 0)


def test_gate_shows_who_waits_until_its_process_is_gone(web: WebServer) -> None:
    """A hand-in whose attempt somebody holds waits; killed with its process, it waits no longer."""
    sitting = sitting_of(factories.attempt())
    with Poster(web.port) as poster, ThreadPoolExecutor(1) as threads, transaction.atomic():
        Attempt.objects.select_for_update().get(pk=sitting.attempt_id)
        answer = threads.submit(poster.hand_in, sitting, {"q1": "a"})
        wait_until(lambda: scrape(web)["waiting"] == 1)

        for process in list_workers(web):
            process.send_signal(signal.SIGKILL)

        assert isinstance(answer.exception(), OSError | HTTPException)
    wait_until(lambda: find_waiting(web) == 0)
    assert not Submission.objects.exists()


def list_workers(server: WebServer) -> list[psutil.Process]:
    assert server.process is not None
    return psutil.Process(server.process.pid).children()


def find_waiting(server: WebServer) -> float | None:
    """Return the gauge; None while nobody answers, because the processes are being started anew."""
    try:
        return scrape(server)["waiting"]
    except httpx.TransportError:
        return None
