"""D10: a disk runs full under the hand-ins. Nobody is told "submitted" for what could be lost, and room is all it takes to go on."""

import contextlib
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from exams.gate.handin import Outcome
from exams.gate.session import Session
from exams.models import Submission
from outbox.log.verify import verify_log
from outbox.models import DeadLetter, Event, EventPosition, FinishedJob, Job
from tests import factories
from tests.exams.gate.sessions import MakeHandIn, make_handin  # noqa: F401 - a fixture
from tests.posting import Poster, Sitting, sitting_of
from tests.processes.running import Running
from tests.quorum.history import History, Stored, find_faults
from tests.quorum.rig import Rig
from tests.quorum.rigged import rig, rig_environment, rigs, session, template  # noqa: F401 - fixtures
from tests.quorum.small_disk import SmallDisk
from tests.serving import serving
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]

CLIENTS = 16
ANSWERS = {"q1": "an answer that needs a page of its own " * 200}
NO_ROOM = "No space left on device"
TOLD_TO_WAIT = {"overloaded", "outcome_unknown"}


@contextmanager
def small_disk(rig: Rig, name: str, part: str) -> Iterator[SmallDisk]:
    """Give a part of this server's data folder a disk of its own; at the end the server does not run."""
    rig.kill(name)
    with SmallDisk(rig.node(name).place.data / part) as disk:
        rig.node(name).start()
        rig.wait_until_streaming("a", 2)
        try:
            yield disk
        finally:
            rig.kill(name)


def let_log_grow(rig: Rig, full: str) -> None:
    """Make PostgreSQL begin new files of the log until this server has found no room for one."""

    def has_complained() -> bool:
        with contextlib.suppress(psycopg.Error):
            rig.run("a", "SELECT pg_logical_emit_message(false, '', repeat('x', 1000)), pg_switch_wal()")
        return NO_ROOM in rig.node(full).place.log.read_text()

    wait_until(has_complained, look=0.1)


def test_standby_whose_disk_is_full_costs_no_acknowledgement(
    rig: Rig, session: Session, make_handin: MakeHandIn
) -> None:
    with small_disk(rig, "b", "pg_wal") as disk:
        disk.fill()
        let_log_grow(rig, "b")
        wait_until(lambda: rig.count_streaming("a") == 1)
        verdicts = [session.accept([make_handin(factories.attempt())])[0] for _ in range(20)]
        disk.make_room()
        rig.wait_until_streaming("a", 2)

    assert {verdict.outcome for verdict in verdicts} == {Outcome.ACCEPTED}


class Storm:
    """Clients that hand in until each holds a receipt."""

    def __init__(self, port: int, stack: ExitStack) -> None:
        self.history = History()
        self._poster = stack.enter_context(Poster(port, timeout=15))
        self._clients = stack.enter_context(ThreadPoolExecutor(CLIENTS))

    def hand_in(self, sittings: Sequence[Sitting]) -> list[Future[None]]:
        """Begin; a future is done when its client has a receipt."""
        return [self._clients.submit(self._insist, sitting) for sitting in sittings]

    def wait_until_told_to_wait(self, times: int) -> None:
        """Wait until clients were sent away so often."""
        wait_until(lambda: sum(made.code in TOLD_TO_WAIT for made in self.history.tries) >= times, seconds=60)

    def _insist(self, sitting: Sitting) -> None:
        def is_acknowledged() -> bool:
            return self.history.hand_in(self._poster, sitting, ANSWERS).is_acknowledged

        wait_until(is_acknowledged, seconds=90, look=0.2)


@pytest.mark.parametrize("part", ["base", pytest.param("pg_wal", marks=pytest.mark.chaos)])
def test_primary_whose_disk_is_full_acknowledges_nothing_it_could_lose_and_goes_on_with_room(
    rig: Rig, rig_environment: dict[str, str], tmp_path: Path, part: str
) -> None:
    """Without room for data every statement fails; without room for its log the server ends, and somebody starts it again.

    There is work for worker and sequencer when the disk runs full, and nobody is to blame for it.
    """
    sittings = [sitting_of(factories.attempt()) for _ in range(4 * CLIENTS)]
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(rig, "a", part))
        storm = Storm(stack.enter_context(serving(rig_environment)).port, stack)
        processes = [
            stack.enter_context(Running(command, environment=rig_environment, log=tmp_path / command))
            for command in ("run_worker", "run_sequencer", "sweep")
        ]
        tell_to(signal.SIGSTOP, processes)
        for early in storm.hand_in(sittings[: 2 * CLIENTS]):
            early.result()
        disk.fill()
        if part == "pg_wal":
            let_log_grow(rig, "a")
        tell_to(signal.SIGCONT, processes)
        late = storm.hand_in(sittings[2 * CLIENTS :])
        storm.wait_until_told_to_wait(CLIENTS)
        disk.make_room()
        if part == "pg_wal":
            rig.start_again("a")
        for each in late:
            each.result()
        connection.close()  # it may have been to the server that ended
        wait_until(lambda: FinishedJob.objects.count() == 4 * CLIENTS)
        wait_until(lambda: EventPosition.objects.count() == Event.objects.count())

        assert find_faults(storm.history, list_stored()) == []
        assert len(storm.history.acknowledged) == 4 * CLIENTS
        assert {made.code for made in storm.history.tries} - {""} <= TOLD_TO_WAIT
        assert (DeadLetter.objects.count(), Job.objects.count()) == (0, 0)
        assert verify_log(report=lambda _verified, _all: None).fault is None
        connection.close()


def tell_to(do: signal.Signals, processes: Sequence[Running]) -> None:
    """Stop these processes where they stand, once they are up, or let them go on."""
    for process in processes:
        wait_until(lambda: process.catches(signal.SIGTERM))  # noqa: B023
        process.send(do)


def list_stored() -> list[Stored]:
    rows = Submission.objects.values_list("id", "attempt_id", "payload_sha256")
    return [Stored(str(row[0]), row[1], row[2]) for row in rows]
