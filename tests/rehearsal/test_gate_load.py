"""L2, L4, S6: the gate as a real process under arrivals that do not wait, too many of them, and clients that waste its time.

In the suite each asserts outcomes (who was answered what, and what is stored); the full ones (`make chaos`) assert the figures too.
"""

import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import pytest

from exams.gate.admission import RETRY_AFTER, Limits
from tests.benchmarks.hall import Hall
from tests.load import run_load
from tests.serving import WebServer, serving

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]
chaos = pytest.mark.chaos

RATE = 150  # hand-ins a second
LONG = int(os.environ.get("CHAOS_SECONDS", "600"))
MORE_THAN_A_LINE = Limits().waiting + 2_048
SHED = "503"
LONGEST_WAIT = max(RETRY_AFTER)


@pytest.fixture
def hall(transactional_db: None, tmp_path: Path) -> Hall:
    return Hall(tmp_path)


@pytest.fixture
def gate(transactional_db: None, process_environment: Mapping[str, str]) -> Iterator[WebServer]:
    with serving(process_environment) as server:
        yield server


def tell(figure: object) -> None:
    print(f"\n{figure}")  # noqa: T201 - the figures are what a full run is for


@pytest.mark.parametrize(
    ("seconds", "rate"),
    [(4, RATE), pytest.param(LONG, RATE, marks=chaos), pytest.param(120, 5 * RATE, marks=chaos)],
)
def test_l2_arrivals_are_all_acknowledged(gate: WebServer, hall: Hall, seconds: int, rate: int) -> None:
    """Also five times as many, which is the overload that L4 means where L2's rate is all a gate can do: nobody is shed."""
    file = hall.write_requests(2 * rate * seconds)

    load = run_load(gate.port, file, connections=128, seconds=seconds, rate=rate)

    tell(load)
    assert load.answers == {"202": hall.count_handed_in()}
    assert load.answers["202"] == pytest.approx(rate * seconds, rel=0.2)  # a Poisson draw: its own spread
    if seconds >= 120:
        assert (load.p50_ms <= 40, load.p99_ms <= 250) == (True, True)


@pytest.mark.parametrize(("seconds", "times", "alone"), [(3, None, 1), pytest.param(120, 5, 2, marks=chaos)])
def test_l4_too_many_at_once_are_accepted_or_shed_and_nothing_else(
    gate: WebServer, hall: Hall, seconds: int, times: int | None, alone: int
) -> None:
    """More at once than the line is long: those who find no room are told so, and everybody's word is kept.

    In the suite they ask again at once. The full one sends five times what the gate takes, from clients that heed Retry-After.
    """
    before = run_load(gate.port, hall.write_requests(10_000 * alone), connections=64, seconds=alone)
    stored = hall.count_handed_in()
    assert before.answers == {"202": stored}
    peak = before.rate(202)

    load = run_load(
        gate.port,
        hall.write_requests(int(peak * (1.2 * seconds + times * LONGEST_WAIT)) if times else 18_000),
        connections=MORE_THAN_A_LINE,
        seconds=seconds,
        rate=times and times * peak,
        again=[SHED],
        is_patient=times is not None,
    )

    tell(load)
    assert set(load.answers) == {"202", SHED}
    assert hall.count_handed_in() - stored == load.answers["202"]
    after = run_load(gate.port, hall.write_requests(10_000 * alone), connections=64, seconds=alone)
    assert set(after.answers) == {"202"}
    tell(f"{peak:,.0f}/s before, {load.answers['202'] / load.seconds:,.0f}/s, {after.rate(202):,.0f}/s after")
    if seconds >= 120:
        assert after.rate(202) >= 0.8 * peak


@pytest.mark.parametrize(
    ("seconds", "idle", "slow"), [(1, 200, 20), pytest.param(60, 1_000, 100, marks=chaos)]
)
def test_s6_idle_sockets_and_slow_bodies_take_nothing_from_others(
    gate: WebServer, hall: Hall, seconds: int, idle: int, slow: int
) -> None:
    quiet = run_load(gate.port, hall.write_requests(10_000 * seconds), connections=64, seconds=seconds)
    stored = hall.count_handed_in()
    with ExitStack() as wasters:
        for _ in range(idle):
            wasters.enter_context(socket.create_connection(("127.0.0.1", gate.port)))
        halves = [wasters.enter_context(SlowClient(gate.port, *one)) for one in list_halves(hall, slow)]

        load = run_load(gate.port, hall.write_requests(10_000 * seconds), connections=64, seconds=seconds)

        assert load.answers == {"202": hall.count_handed_in() - stored}
        if seconds < 20:  # within the time a body may take
            assert [finish(half) for half in halves] == [b"HTTP/1.1 202"] * slow
    tell(
        f"{quiet.rate(202):,.0f}/s alone, {load.rate(202):,.0f}/s beside {idle} idle sockets and {slow} slow bodies"
    )
    if seconds >= 60:
        assert load.rate(202) >= 0.8 * quiet.rate(202)


def list_halves(hall: Hall, count: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield requests in two parts, the second being the last byte of the body."""
    body = json.dumps({"answers": hall.answers}).encode()
    for sitting in hall.seat(count):
        head = (
            f"POST {sitting.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {sitting.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        yield head.encode() + body[:-1], body[-1:]


class SlowClient:
    """A client that has sent all of its request but the last byte."""

    def __init__(self, port: int, first: bytes, last: bytes) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.sendall(first)
        self.last = last

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()


def finish(client: SlowClient) -> bytes:
    """Send the last byte, and return the beginning of the answer."""
    client.socket.sendall(client.last)
    return client.socket.recv(65536)[:12]
