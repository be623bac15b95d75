"""Real sequencers, killed and frozen in the middle of a pass: positions stay dense, nothing is lost, somebody goes on."""

import signal

import pytest

from outbox.log.verify import verify_log
from outbox.models import Event, EventPosition, Heartbeat, Tick
from tests.processes.changes import change_marks
from tests.processes.workers import Start, start
from tests.waiting import wait_until

__all__ = ["start"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process, pytest.mark.timeout(300)]


def everything_is_numbered() -> bool:
    return EventPosition.objects.count() == Event.objects.count()


def assert_positions_are_dense_and_sealed() -> None:
    positions = list(EventPosition.objects.order_by("pos").values_list("pos", flat=True))
    assert positions == list(range(1, Event.objects.count() + 1))
    assert verify_log(report=lambda *_: None).fault is None


def test_sequencer_numbers_what_comes_and_ends_in_good_order_on_sigterm(start: Start) -> None:
    with start("run_sequencer") as sequencer:
        change_marks(range(10))
        wait_until(everything_is_numbered, seconds=60)
        change_marks(range(10), version=2)
        wait_until(everything_is_numbered, seconds=60)
        assert Heartbeat.objects.get().role == "sequencer"
        sequencer.send(signal.SIGTERM)

        assert sequencer.wait() == 0
        assert sequencer.output == "Ended. 20 events numbered.\n"
    assert not Heartbeat.objects.exists()
    assert_positions_are_dense_and_sealed()


def test_sequencer_killed_in_a_pass_leaves_nothing_half_done(start: Start) -> None:
    change_marks(range(10))
    with start("run_sequencer", HANDOVER_FAULT_POINT="in_pass:kill") as killed:
        assert killed.wait() == -signal.SIGKILL
    assert (EventPosition.objects.count(), Tick.objects.count()) == (0, 0)

    with start("run_sequencer", "--once") as next_one:
        assert next_one.wait() == 0
    assert everything_is_numbered()
    assert_positions_are_dense_and_sealed()


def test_sequencer_frozen_in_a_pass_is_overtaken_and_well_again_when_it_wakes(start: Start) -> None:
    change_marks(range(10))
    with start("run_sequencer", HANDOVER_FAULT_POINT="in_pass:stop") as frozen:
        frozen.wait_until_frozen()
        with start("run_sequencer", "--once") as other:
            assert other.wait() == 0  # as soon as the server has ended the frozen one's session
        assert everything_is_numbered()
        assert Tick.objects.count() == 1

        frozen.send(signal.SIGCONT)
        change_marks(range(10), version=2)
        wait_until(everything_is_numbered, seconds=60)  # the woken one is the only one left
        frozen.send(signal.SIGTERM)
        assert frozen.wait() == 0
        assert "Database away (1)" in frozen.output
    assert_positions_are_dense_and_sealed()


def test_two_sequencers_share_the_work_without_knowing_of_each_other(start: Start) -> None:
    with start("run_sequencer") as one, start("run_sequencer") as two:
        wait_until(lambda: Heartbeat.objects.filter(role="sequencer").count() == 2)
        for version in range(1, 41):
            change_marks(range(5), version=version)
        wait_until(everything_is_numbered, seconds=60)
        for each in (one, two):
            each.send(signal.SIGTERM)
        assert [one.wait(), two.wait()] == [0, 0]
    assert_positions_are_dense_and_sealed()
