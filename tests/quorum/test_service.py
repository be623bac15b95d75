"""The whole service over HTTP while its standbys, its clients and its wires fail."""

import contextlib
import datetime as dt
import http.client
import json
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.test import Client

from exams.gate.durability import LocalDurability
from exams.gate.handin import Outcome
from exams.gate.session import Lost, Session
from exams.models import Attempt, AttemptState, Submission
from exams.receipt_keys import get_key_ring
from exams.sweeps import sweep_overdue_attempts
from outbox.log.reading import Position, read_events
from outbox.log.sequencer import sequence_events
from outbox.quorum import get_watch
from tests import factories
from tests.cut_wire import CutWire
from tests.exams.gate.sessions import MakeHandIn, make_handin  # noqa: F401 - a fixture
from tests.posting import Poster, sitting_of
from tests.quorum.history import History, Stored, find_faults
from tests.quorum.rig import Rig
from tests.quorum.rigged import rig, rig_environment, rigs, session, template  # noqa: F401 - fixtures
from tests.serving import WebServer, serving
from tests.waiting import wait_until

pytestmark = pytest.mark.process

ANSWERS = {"q1": "a"}
TOLD_WITHIN = 5  # seconds: the client hangs up then, and its try would count as unanswered


@pytest.fixture
def gate(rig: Rig, rig_environment: dict[str, str]) -> Iterator[WebServer]:
    """The product's web server on the rig."""
    with serving(rig_environment) as gate:
        yield gate


def list_stored() -> list[Stored]:
    rows = Submission.objects.values_list("id", "attempt_id", "payload_sha256")
    return [Stored(str(row[0]), row[1], row[2]) for row in rows]


def test_many_at_once_are_acknowledged_by_quorum(rig: Rig, gate: WebServer) -> None:
    """L1, without its figure: thirty-two clients, each receipt held against the tables."""
    sittings = [sitting_of(each) for each in _attempts_of_one_exam(96)]
    history = History()
    with Poster(gate.port) as poster, ThreadPoolExecutor(32) as clients:
        told = list(clients.map(lambda sitting: history.hand_in(poster, sitting, ANSWERS), sittings))

    assert Counter(made.status for made in told) == {202: 96}
    assert find_faults(history, list_stored()) == []
    assert len(list_stored()) == 96


def _attempts_of_one_exam(number: int) -> list[Attempt]:
    revision = factories.published_revision()
    return [factories.attempt(revision) for _ in range(number)]


def test_both_standbys_frozen_is_told_as_unknown_in_time_and_each_retry_is_stored_once(
    rig: Rig, gate: WebServer
) -> None:
    """D3."""
    sittings = [sitting_of(factories.attempt()) for _ in range(8)]
    history = History()
    with Poster(gate.port, timeout=TOLD_WITHIN) as poster, ThreadPoolExecutor(8) as clients:
        history.hand_in(poster, sitting_of(factories.attempt()), ANSWERS)
        rig.freeze("b", "c")
        told = list(clients.map(lambda sitting: history.hand_in(poster, sitting, ANSWERS), sittings))
        shed = history.hand_in(poster, sittings[0], ANSWERS)
        rig.thaw()
        late = []
        for sitting in sittings:
            wait_until(lambda: history.hand_in(poster, sitting, ANSWERS).is_acknowledged)  # noqa: B023
            late.append(history.tries[-1])

    assert Counter((made.status, made.code) for made in told) == {(503, "outcome_unknown"): 8}
    assert (shed.status, shed.code) in {(503, "overloaded"), (503, "outcome_unknown")}
    assert find_faults(history, list_stored()) == []
    assert len(list_stored()) == 9


def test_no_attempt_is_closed_while_what_was_handed_in_for_it_cannot_be_made_safe(rig: Rig) -> None:
    attempt = factories.attempt(closes_at=dt.datetime.now(tz=dt.UTC) - dt.timedelta(hours=1))
    rig.freeze_node("b")
    rig.freeze_node("c")
    wait_until(lambda: get_watch().find_problem() is not None)

    assert sweep_overdue_attempts() == 0

    rig.thaw()
    wait_until(lambda: get_watch().find_problem() is None)
    assert sweep_overdue_attempts() == 1
    attempt.refresh_from_db()
    assert attempt.state == AttemptState.NOT_TAKEN


def test_nothing_is_said_to_be_handed_in_while_only_the_primary_has_it(
    rig: Rig, session: Session, make_handin: MakeHandIn
) -> None:
    """D5: every page and every answer that would say "accepted" says "not certain yet" instead."""
    attempt = factories.attempt()
    still_open = factories.attempt(student=attempt.student)
    browser = Client()
    browser.force_login(attempt.student)
    rig.freeze("b", "c")
    committed = _commit_locally(make_handin, attempt)
    doors = [
        f"/api/v1/attempts/{attempt.pk}",
        f"/api/v1/receipts/{committed}",
        "/api/v1/receipts",
        "/api/v1/exams",
        f"/exams/receipts/{committed}/",
        f"/exams/attempts/{attempt.pk}/",
        "/exams/receipts/",
        "/exams/",
    ]

    away = {door: browser.get(door) for door in doors}
    told_of_the_open_one = browser.get(f"/api/v1/attempts/{still_open.pk}").status_code
    rig.thaw()

    assert {door: answer.status_code for door, answer in away.items()} == dict.fromkeys(doors, 503)
    assert all(answer.headers["Retry-After"] for answer in away.values())
    assert told_of_the_open_one == 200
    for door in doors:
        wait_until(lambda: browser.get(door).status_code in {200, 302})  # noqa: B023


def _commit_locally(make_handin: MakeHandIn, attempt: Attempt) -> str:
    """Leave the row that a cancelled wait leaves."""
    local = Session(durability=LocalDurability(), key_id=get_key_ring().signing_id)
    local.connect()
    [verdict] = local.accept([make_handin(attempt)])
    local.close()
    assert verdict.receipt is not None
    return str(verdict.receipt.id)


def test_client_that_died_during_the_commit_gets_its_first_receipt(rig: Rig, gate: WebServer) -> None:
    """D11."""
    sitting = sitting_of(factories.attempt())
    rig.freeze("b", "c")
    dying = http.client.HTTPConnection("127.0.0.1", gate.port)
    dying.request(
        "POST",
        sitting.path,
        json.dumps({"answers": ANSWERS}),
        {"Authorization": f"Bearer {sitting.token}", "Content-Type": "application/json"},
    )
    wait_until(lambda: rig.list_waiting("a"))
    dying.close()
    rig.thaw()
    history = History()
    with Poster(gate.port) as poster:
        wait_until(lambda: history.hand_in(poster, sitting, ANSWERS).is_acknowledged)
        again = history.hand_in(poster, sitting, ANSWERS)

    assert again.status == 200
    assert find_faults(history, list_stored()) == []
    assert len(list_stored()) == 1


def test_reply_lost_on_the_wire_is_asked_again_and_stored_once(
    rig: Rig, make_handin: MakeHandIn, session: Session
) -> None:
    """D12: a proxy swallows what the server says after the commit."""
    folder = rig.folder / "wire"
    folder.mkdir()
    wire = CutWire(rig.node("a").place.sockets, folder)
    torn = Session(durability=session.durability, key_id=get_key_ring().signing_id)
    torn._arguments["host"] = str(folder)
    torn.connect()
    handin = make_handin(factories.attempt())
    torn.accept([make_handin(factories.attempt())])
    wire.cuts = 1

    with contextlib.closing(wire), pytest.raises(Lost):
        torn.accept([handin])
    wait_until(lambda: Submission.objects.filter(pk=handin.submission_id).exists())
    [verdict] = session.accept([handin])

    torn.close()
    assert (verdict.outcome, wire.swallowed) == (Outcome.ACCEPTED, 1)
    assert Submission.objects.filter(attempt=handin.attempt_id).count() == 1


def test_reader_on_a_standby_sees_a_prefix_of_the_log_at_every_moment(
    rig: Rig, session: Session, make_handin: MakeHandIn
) -> None:
    """I27: positions are dense for whoever looks, wherever they look."""
    is_over = threading.Event()
    seen: list[tuple[int, int]] = []

    def look() -> None:
        while not is_over.is_set():
            [[count, highest]] = rig.run(
                "b", "SELECT count(*), coalesce(max(pos), 0) FROM outbox_eventposition"
            )
            seen.append((int(str(count)), int(str(highest))))

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        for _ in range(30):
            session.accept([make_handin(factories.attempt()) for _ in range(2)])
            sequence_events()
        is_over.set()
        looking.result()

    assert all(count == highest for count, highest in seen)
    assert [highest for _, highest in seen] == sorted(highest for _, highest in seen)
    assert len(read_events(Position(0, 0, 0), 1_000)) >= 60
