"""The relay without a broker, as a real process: it does the work itself, and a kill costs nothing."""

import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from outbox.effects import Effect, register_effect, unregister_effect
from outbox.models import EffectReceipt, Heartbeat
from tests.relay.effects import CAUSED, cause
from tests.relay.place.apps import CALLS, call
from tests.relay.processes import Start, all_done, start_process, told
from tests.waiting import wait_until

__all__ = ["start_process", "told"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process, pytest.mark.timeout(300)]
Told = Callable[[], Counter[UUID]]


def end_leases() -> None:
    EffectReceipt.objects.filter(state="trying").update(due_at="2000-01-01T00:00Z")


def test_relay_does_everything_itself_and_ends_in_good_order(start_process: Start, told: Told) -> None:
    with start_process("run_relay") as relay:
        ids = cause(60)
        wait_until(lambda: all_done(60), seconds=60)
        assert set(Heartbeat.objects.values_list("role", flat=True)) == {"consumer:relay"}
        relay.send(signal.SIGTERM)
        assert relay.wait() == 0, relay.output
    assert told() == Counter(ids)
    assert not Heartbeat.objects.exists()


@pytest.mark.parametrize("place", ["in_batch", "after_batch", "after_effect_claim", "in_effect"])
def test_relay_killed_anywhere_does_every_effect_of_the_database_once(
    start_process: Start, told: Told, place: str
) -> None:
    ids = cause(5)
    with start_process("run_relay", HANDOVER_FAULT_POINT=f"{place}:kill") as relay:
        assert relay.wait() == -signal.SIGKILL
    end_leases()
    with start_process("run_relay"):
        wait_until(lambda: all_done(5), seconds=60)
    assert told() == Counter(ids)


def test_effect_outside_may_happen_twice_around_a_kill_with_the_same_key_and_has_one_receipt(
    start_process: Start, told: Told, tmp_path: Path
) -> None:
    register_effect(Effect("call", frozenset({CAUSED}), call, outside=True))
    try:
        (event_id,) = cause()
        calls = tmp_path / "calls"
        environment = {CALLS: str(calls)}
        with start_process("run_relay", **environment, HANDOVER_FAULT_POINT="after_effect:kill") as relay:
            assert relay.wait() == -signal.SIGKILL
        end_leases()
        with start_process("run_relay", **environment):
            wait_until(lambda: all_done(2), seconds=60)
        assert calls.read_text().split() == [str(event_id)] * 2
        assert told() == Counter([event_id])
    finally:
        unregister_effect("call")
