"""L1, D2, D3, D11 at their full figures: many under quorum, standbys frozen under load, and clients that hang up during their commit.

The short ones are in `test_service.py` and `test_verification.py`.
"""

import json
import os
import random
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection

from exams.models import Submission
from tests.benchmarks.hall import Hall
from tests.load import read_requests, run_load, write_requests
from tests.posting import Poster
from tests.quorum.history import History, Stored, find_faults
from tests.quorum.rig import Rig
from tests.quorum.rigged import rig, rig_environment, rigs, template  # noqa: F401 - fixtures
from tests.serving import WebServer, serving
from tests.waiting import wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.process, pytest.mark.timeout(900)]

RATE = 150  # hand-ins a second
L1_RATE = 1_600  # 1,500 are asked for
SEED = int(os.environ.get("CHAOS_SEED", "20261129"))


@pytest.fixture
def gate(rig: Rig, rig_environment: dict[str, str]) -> Iterator[WebServer]:
    """The product's web server on the rig."""
    with serving(rig_environment) as gate:
        yield gate


def tell(figure: object) -> None:
    print(f"\n{figure}")  # noqa: T201 - the figures are what a full run is for


def test_l1_fifteen_hundred_a_second_are_acknowledged_by_quorum_for_a_minute(
    gate: WebServer, tmp_path: Path
) -> None:
    """Over HTTP, which is more than the gate's SQL alone, of which the figure was asked. An answer's time is its own, as pgbench counts it."""
    hall = Hall(tmp_path)
    load = run_load(
        gate.port, hall.write_requests(2 * L1_RATE * 60), connections=32, seconds=60, rate=L1_RATE
    )

    tell(f"L1: {load}")
    assert load.answers == {"202": hall.count_handed_in()}
    assert load.rate(202) >= L1_RATE * 0.95  # a Poisson draw, over what the last answers took
    assert load.p99_sent_ms["202"] <= 60


def test_d2_one_standby_frozen_for_a_minute_costs_no_hand_in_and_no_time(
    rig: Rig, gate: WebServer, tmp_path: Path
) -> None:
    hall = Hall(tmp_path)
    file = hall.write_requests(2 * RATE * 20)
    quiet = run_load(gate.port, file, connections=128, seconds=20, rate=RATE)
    file = hall.write_requests(2 * RATE * 60)
    rig.freeze("b")

    frozen = run_load(gate.port, file, connections=128, seconds=60, rate=RATE)

    rig.thaw()
    tell(f"D2: p99 {quiet.p99_ms:.1f} ms with both, {frozen.p99_ms:.1f} ms with one frozen; {frozen.answers}")
    assert set(quiet.answers) == set(frozen.answers) == {"202"}
    assert hall.count_handed_in() == quiet.answers["202"] + frozen.answers["202"]
    assert frozen.p99_ms <= 2 * quiet.p99_ms


def test_d3_both_standbys_frozen_for_half_a_minute_acknowledge_nobody_and_then_everybody_once(
    rig: Rig, gate: WebServer, tmp_path: Path
) -> None:
    hall = Hall(tmp_path)
    file = hall.write_requests(2 * RATE * 30)
    rig.freeze("b", "c")

    away = run_load(gate.port, file, connections=512, seconds=30, rate=RATE)
    acknowledged_by_a_standby = rig.run("b", "SELECT count(*) FROM exams_submission")
    rig.thaw()
    wait_until(lambda: rig.count_streaming("a") == 2)
    back = run_load(gate.port, file, connections=64, seconds=60, again=["503"])

    tell(f"D3: {away.answers} within {away.p99_sent_ms['503']:.0f} ms (p99); after it {back.answers}")
    assert set(away.answers) == {"503"}
    assert acknowledged_by_a_standby == [(0,)]
    assert away.p99_sent_ms["503"] <= 5_000
    assert back.answers["202"] + back.answers.get("200", 0) == len(read_requests(file))
    assert hall.count_handed_in() == Submission.objects.count() == len(read_requests(file))


def test_d11_a_thousand_clients_that_hang_up_during_the_commit_get_their_first_receipt(
    rig: Rig, gate: WebServer, tmp_path: Path
) -> None:
    hall, history = Hall(tmp_path), History()
    chance = random.Random(SEED)
    sittings = list(hall.seat(1_000))
    file = tmp_path / "requests"
    write_requests(
        file, [(each.path, each.token) for each in sittings], json.dumps({"answers": hall.answers})
    )
    with ThreadPoolExecutor(32) as clients, Poster(gate.port, timeout=15) as poster:
        dying = [
            clients.submit(send_and_hang_up, gate.port, request, after=chance.uniform(0.0, 0.01))
            for request in read_requests(file)
        ]
        for each in dying:
            each.result()
        before_retry = hall.count_handed_in()
        for _ in range(2):
            list(clients.map(lambda sitting: history.hand_in(poster, sitting, hall.answers), sittings))

    connection.close()
    rows = Submission.objects.values_list("id", "attempt_id", "payload_sha256")
    tell(f"D11: {before_retry} of 1,000 were stored before anybody came back; {history.count_answers()}")
    assert find_faults(history, [Stored(str(row[0]), row[1], row[2]) for row in rows]) == []
    assert {made.status for made in history.tries} <= {200, 202}
    assert (len(history.acknowledged), Submission.objects.count()) == (1_000, 1_000)
    assert before_retry > 0


def send_and_hang_up(port: int, request: bytes, *, after: float) -> None:
    """Send a whole request and die so many seconds later, whatever the server is doing by then."""
    with socket.create_connection(("127.0.0.1", port), timeout=15) as client:
        client.sendall(request)
        time.sleep(after)
