"""D1: the primary is killed under load, again and again; every receipt that a student holds is kept, and none twice.

`make chaos` runs it at full size: `CHAOS_KILLS` kills (100), each under `CHAOS_ACKS` hand-ins (1,000), their moments drawn from
`CHAOS_SEED`.
"""

import os
import random
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import pytest
from django.db import connection

from config.failover import Member, aftermath, fail_over
from config.postgres.place import SUPERUSER
from outbox.quorum import get_watch
from tests.benchmarks.hall import Hall
from tests.posting import Poster, Sitting
from tests.quorum.history import ACKNOWLEDGED, History, Stored, find_faults
from tests.quorum.rig import MEMBERS, Rig
from tests.quorum.rigged import rig, rig_environment, rigs, template  # noqa: F401 - fixtures
from tests.serving import serving

pytestmark = [pytest.mark.process, pytest.mark.timeout(3_600)]

CLIENTS = 16
SEED = int(os.environ.get("CHAOS_SEED", "20261129"))
PATIENCE = 60.0  # seconds after which a client that still has no receipt is a fault of its own


class Storm:
    """Clients that hand in until each holds a receipt, while the primary may die."""

    def __init__(self, port: int, history: History) -> None:
        self._history = history
        self._poster = Poster(port, timeout=15)

    def run(self, sittings: Sequence[Sitting], *, meanwhile: threading.Event) -> None:
        """Hand all of these in; `meanwhile` is set once a tenth holds receipts."""
        tenth = len(sittings) // 10
        done = 0
        with ThreadPoolExecutor(CLIENTS) as clients, self._poster:
            for _ in clients.map(self._insist, sittings):
                done += 1
                if done >= tenth:
                    meanwhile.set()

    def _insist(self, sitting: Sitting) -> None:
        until = time.monotonic() + PATIENCE
        answers = {"q1": str(sitting.attempt_id)}
        while self._history.hand_in(self._poster, sitting, answers).status not in ACKNOWLEDGED:
            assert time.monotonic() < until, f"{sitting.attempt_id} got no receipt within {PATIENCE:g} s."
            time.sleep(random.uniform(0.05, 0.3))


class Siege:
    """One rig, one real gate on it, and rounds of a storm with a kill in its middle."""

    def __init__(self, rig: Rig, port: int, folder: Path) -> None:
        self.history = History()
        self.primary = "a"
        self.caught = (
            0  # hand-ins that had no answer when the primary died: a kill that catches none proves nothing
        )
        self._rig = rig
        self._port = port
        self._hall = Hall(folder)

    def run_round(self, students: int) -> None:
        """Kill the primary under load, fail over, bring it back; return when everybody holds a receipt."""
        connection.close()  # it was the last primary's
        sittings = list(self._hall.seat(students))
        begun, before = threading.Event(), len(self.history.acknowledged)
        with ThreadPoolExecutor(1) as pool:
            storm = pool.submit(Storm(self._port, self.history).run, sittings, meanwhile=begun)
            begun.wait(PATIENCE)
            time.sleep(random.uniform(0.0, students / 4_000))
            self.caught += students - (len(self.history.acknowledged) - before)
            self._kill_and_fail_over()
            storm.result(timeout=2 * PATIENCE)

    def list_stored(self) -> list[Stored]:
        """Return every submission that the primary has in the end."""
        rows = self._rig.run(self.primary, "SELECT id, attempt_id, payload_sha256 FROM exams_submission")
        return [Stored(str(row[0]), UUID(str(row[1])), str(row[2])) for row in rows]

    def _kill_and_fail_over(self) -> None:
        killed = self.primary
        self._rig.kill(killed)
        standbys = [
            Member(name, self._rig.node(name).url(SUPERUSER, "postgres"))
            for name in MEMBERS
            if name != killed
        ]
        names = f"ANY 1 ({', '.join(MEMBERS)})"
        quorum = get_watch().quorum
        self.primary = fail_over(standbys, names=names, quorum=quorum, say=lambda _: None).name
        aftermath.bring_back(self._rig.node(killed), self._rig.node(self.primary), lambda _: None)
        self._rig.start_again(killed)
        self._rig.wait_until_streaming(self.primary, 2)


@pytest.fixture
def siege(rig: Rig, rig_environment: dict[str, str], tmp_path: Path) -> Iterator[Siege]:
    """A siege about to begin."""
    random.seed(SEED)
    with serving(rig_environment) as server:
        yield Siege(rig, server.port, tmp_path)


def test_every_receipt_is_kept_when_the_primary_is_killed_under_load(siege: Siege) -> None:
    for _ in range(3):
        siege.run_round(students=200)

    assert find_faults(siege.history, siege.list_stored()) == []
    assert len(siege.history.acknowledged) == 600
    assert siege.caught > 0


@pytest.mark.chaos
def test_every_receipt_is_kept_through_a_hundred_kills(siege: Siege) -> None:
    kills, students = int(os.environ.get("CHAOS_KILLS", "100")), int(os.environ.get("CHAOS_ACKS", "1000"))
    for _ in range(kills):
        siege.run_round(students)

    answers = siege.history.count_answers()
    print(  # noqa: T201 - the figure is what a full run is for
        f"D1: {kills} kills that caught {siege.caught} hand-ins; {len(siege.history.acknowledged)} acknowledged, answers {answers}"
    )
    assert find_faults(siege.history, siege.list_stored()) == []
    assert len(siege.history.acknowledged) == kills * students
    assert siege.caught > 0
