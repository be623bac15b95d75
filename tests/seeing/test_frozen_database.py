"""A database that is frozen, with its listener and every session, as a paused virtual machine is: whoever asks how we are gets an answer."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.test import Client

from config.health.readiness import asked
from config.metrics.figures import PATIENCE, figures
from tests import factories
from tests.quorum.rig import Rig
from tests.quorum.rigged import rig, rigs, template  # noqa: F401
from tests.waiting import wait_until

pytestmark = pytest.mark.process

BOUND = 2 * PATIENCE  # generous: without a bound of ours the answer never comes
SILENT = "failed: The database has not answered within 3 s."
UNKNOWN = "failed: Not known: the database does not answer."


@pytest.fixture
def operator(rig: Rig, client: Client) -> Client:
    """An operator, signed in while that was possible."""
    client.force_login(factories.admin())
    return client


@pytest.fixture
def frozen(rig: Rig, operator: Client) -> Iterator[Client]:
    """The same when all three servers stand still, and nothing that was seen before is remembered."""
    for path in ("/readyz", "/metrics", "/console/"):
        assert operator.get(path).status_code == 200
    for name in "abc":
        rig.freeze_node(name)
    figures.forget()
    asked.forget()
    yield operator
    rig.thaw()


def ask(client: Client, path: str) -> Any:
    """Get an answer, within its bound."""
    begun = time.monotonic()
    answer = client.get(path)
    assert time.monotonic() - begun < BOUND
    return answer


def test_everybody_who_looks_gets_an_answer_while_the_database_is_frozen(rig: Rig, frozen: Client) -> None:
    paths = ("/readyz", "/healthz", "/metrics", "/console/")
    with ThreadPoolExecutor(len(paths)) as threads:
        ready, well, meters, console = threads.map(lambda path: ask(frozen, path), paths)

    assert (ready.status_code, well.status_code, meters.status_code, console.status_code) == (
        503,
        503,
        200,
        503,
    )
    assert ready.json() == {
        "status": "not ready",
        "checks": {"database": SILENT, "migrations": UNKNOWN, "durability": UNKNOWN, "keys": "ok"},
    }
    assert well.json() == {"status": "down", "missing": ["database"]}
    lines = meters.content.decode().splitlines()
    assert {"handover_database_up 0.0", "handover_acknowledging 0.0"} <= set(lines)
    assert "The database does not answer" in console.content.decode()

    rig.thaw()
    wait_until(lambda: ask(frozen, "/readyz").status_code == 200)
    assert ask(frozen, "/console/").status_code == 200
