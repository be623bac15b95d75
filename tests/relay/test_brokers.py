"""The relay with real brokers and real workers: every effect once per event, whatever breaks in between (O6, I20)."""

import shlex
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from uuid import UUID

import pytest
from honcho.environ import parse_procfile
from pytest_django import Settings

import config.celery
from outbox.consumers.batches import BatchOutcome, run_batch
from outbox.consumers.consumer import Batch
from outbox.effects.publishing import CeleryPublisher
from outbox.effects.receipts import Message, list_hints
from outbox.effects.relay import Relay
from outbox.effects.status import get_relay_status
from outbox.errors import Unavailable
from outbox.models import Consumer, EffectReceipt
from outbox.quorum.reads import stop_watching
from tests.brokers import Broker, RabbitMQ, Redis
from tests.processes.running import ROOT
from tests.relay.effects import Make, cause, list_receipts, make_effect
from tests.relay.processes import (
    Start,
    all_done,
    celery_worker,
    resend_everything,
    resend_until_done,
    start_process,
    told,
)
from tests.waiting import wait_until

__all__ = ["make_effect", "start_process", "told"]
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.process,
    pytest.mark.xdist_group("brokers"),
    pytest.mark.timeout(300),
]
Told = Callable[[], Counter[UUID]]
assert config.celery.app, "makes our app Celery's current one"


@pytest.fixture(params=["redis", "rabbitmq"])
def broker(request: pytest.FixtureRequest) -> Broker:
    """Each of the two, with an empty queue."""
    found: Broker = request.getfixturevalue(request.param)
    found.empty()
    return found


RelayTo = Callable[[Broker], Relay]


@pytest.fixture
def relay_to() -> Iterator[RelayTo]:
    """Make relays in this process, whose connections end with the test."""
    with ExitStack() as until_the_end:

        def make(broker: Broker) -> Relay:
            publisher = CeleryPublisher(broker.url, wait=1.0)
            until_the_end.callback(publisher.close)
            return Relay(lambda: publisher)

        yield make


def cursor_position() -> int:
    return Consumer.objects.filter(name="relay").values_list("position", flat=True).first() or 0


def test_every_event_is_told_once_by_celerys_workers(
    broker: Broker, start_process: Start, told: Told
) -> None:
    with (
        celery_worker(start_process, broker.url),
        start_process("run_relay", CELERY_BROKER_URL=broker.url) as relay,
    ):
        ids = [each for _ in range(5) for each in cause(20)]
        wait_until(lambda: all_done(100), seconds=60)
        relay.send(signal.SIGTERM)
        assert relay.wait() == 0
    assert told() == Counter(ids)
    assert cursor_position() == 100


def test_broker_that_is_down_and_comes_back_empty_costs_time_and_nothing_else(
    broker: Broker, start_process: Start, told: Told
) -> None:
    """O6: some messages were in the broker when it lost everything, some events came while it was away."""
    with start_process("run_relay", CELERY_BROKER_URL=broker.url) as relay:
        ids = cause(20)
        wait_until(lambda: cursor_position() == 20, seconds=60)
        assert broker.count_messages() == 20

        broker.lose_everything()
        ids += cause(20)
        wait_until(lambda: "Waiting (2)" in relay.output, seconds=60)
        assert cursor_position() == 20, "nothing is behind the cursor that was not confirmed"
        assert get_relay_status().age.total_seconds() > 0

        broker.start()
        wait_until(lambda: cursor_position() == 40, seconds=60)
        assert get_relay_status().age.total_seconds() == 0
        with celery_worker(start_process, broker.url):
            wait_until(lambda: EffectReceipt.objects.filter(state="done").count() == 20, seconds=60)
            assert resend_everything(broker.url) == 20
            wait_until(lambda: all_done(40), seconds=60)
    assert told() == Counter(ids)


def test_relay_killed_between_confirmation_and_cursor_publishes_again_and_it_happens_once(
    broker: Broker, start_process: Start, told: Told, relay_to: RelayTo
) -> None:
    ids = cause(10)
    with start_process(
        "run_relay", CELERY_BROKER_URL=broker.url, HANDOVER_FAULT_POINT="after_confirm:kill"
    ) as relay:
        assert relay.wait() == -signal.SIGKILL
    assert (broker.count_messages(), cursor_position(), list_receipts()) == (10, 0, [])

    assert run_batch(relay_to(broker)).outcome == BatchOutcome.ADVANCED
    assert (broker.count_messages(), cursor_position()) == (20, 10)
    with celery_worker(start_process, broker.url):
        wait_until(lambda: all_done(10) and broker.count_messages() == 0, seconds=60)
    assert told() == Counter(ids)


def test_unknown_outcome_is_sent_again_and_happens_once(
    broker: Broker, start_process: Start, told: Told, relay_to: RelayTo
) -> None:
    relay = relay_to(broker)
    ids = cause(5)
    run_batch(relay)
    broker.freeze()
    try:
        ids += cause(5)
        with pytest.raises(Unavailable):
            run_batch(relay)
        assert (cursor_position(), len(list_receipts())) == (5, 5)
    finally:
        broker.thaw()
    run_batch(relay)
    assert cursor_position() == 10
    with celery_worker(start_process, broker.url):
        wait_until(lambda: all_done(10) and broker.count_messages() == 0, seconds=60)
    assert told() == Counter(ids)


def test_messages_the_broker_dropped_after_its_word_are_sent_again(
    broker: Broker, start_process: Start, told: Told, relay_to: RelayTo
) -> None:
    ids = cause(10)
    run_batch(relay_to(broker))
    broker.empty()
    assert broker.count_messages() == 0
    with celery_worker(start_process, broker.url):
        assert resend_everything(broker.url) == 10
        wait_until(lambda: all_done(10), seconds=60)
    assert told() == Counter(ids)


@pytest.mark.parametrize("place", ["after_effect_claim", "in_effect"])
def test_worker_killed_in_the_middle_of_a_task_leaves_it_to_the_next(
    broker: Broker, start_process: Start, told: Told, relay_to: RelayTo, place: str
) -> None:
    ids = cause(3)
    run_batch(relay_to(broker))
    with celery_worker(start_process, broker.url, HANDOVER_FAULT_POINT=f"{place}:kill") as worker:
        assert worker.wait() == -signal.SIGKILL
    assert sum(told().values()) == 0
    with celery_worker(start_process, broker.url):
        resend_until_done(broker.url, 3)
    assert told() == Counter(ids)


def test_second_delivery_finds_the_firsts_receipt(
    rabbitmq: RabbitMQ, start_process: Start, told: Told, relay_to: RelayTo
) -> None:
    rabbitmq.empty()
    ids = cause(10)
    relay = relay_to(rabbitmq)
    run_batch(relay)
    for _ in range(3):
        publisher = CeleryPublisher(rabbitmq.url)
        publisher.publish([Message(event_id, "tell", "", pos) for pos, event_id in enumerate(ids, start=1)])
        publisher.close()
    with celery_worker(start_process, rabbitmq.url), celery_worker(start_process, rabbitmq.url):
        wait_until(lambda: all_done(10) and rabbitmq.count_messages() == 0, seconds=60)
    assert told() == Counter(ids)


class NaiveRelay(Relay):
    """What must not be done: hand the messages over without asking whether they arrived, and move on."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    def apply(self, batch: Batch) -> None:
        messages = [Message(hint.event_id, "tell", "", hint.pos) for hint in list_hints(batch.positions)]
        publisher = CeleryPublisher(self._url, wait=1.0)
        try:
            publisher.publish(messages)
        except Unavailable:
            pass  # "it will have arrived"
        finally:
            publisher.close()


def test_relay_that_does_not_wait_for_the_confirmation_loses_everything_of_an_outage(
    redis: Redis, start_process: Start, told: Told
) -> None:
    """Kept so that the tests above are known to bite: the same outage, without confirmation and receipts."""
    redis.empty()
    cause(10)
    redis.lose_everything()
    run_batch(NaiveRelay(redis.url))
    redis.start()
    assert cursor_position() == 10
    assert resend_everything(redis.url) == 0
    assert (redis.count_messages(), sum(told().values())) == (0, 0)


@pytest.fixture
def nobody_has_it_yet(settings: Settings) -> Iterator[None]:
    """Quorum durability on a server that has no standby: nothing that is read is safe."""
    settings.DURABILITY, settings.STANDBYS, settings.STANDBYS_NEEDED = "quorum", ["one", "two"], 1
    yield
    stop_watching()


def test_nothing_is_published_while_too_few_standbys_have_what_was_read(
    rabbitmq: RabbitMQ, told: Told, relay_to: RelayTo, nobody_has_it_yet: None, settings: Settings
) -> None:
    rabbitmq.empty()
    cause(3)
    relay = relay_to(rabbitmq)
    with pytest.raises(Unavailable, match="standbys"):
        run_batch(relay)
    assert (rabbitmq.count_messages(), cursor_position(), list_receipts()) == (0, 0, [])

    settings.DURABILITY = "local"
    run_batch(relay)
    assert (rabbitmq.count_messages(), cursor_position()) == (3, 3)


def test_without_a_broker_nothing_is_noted_for_the_runners_either_until_it_is_safe(
    make_effect: Make, nobody_has_it_yet: None, settings: Settings
) -> None:
    make_effect()
    cause()
    relay = Relay(lambda: None)
    with pytest.raises(Unavailable, match="standbys"):
        run_batch(relay)
    assert list_receipts() == []

    settings.DURABILITY = "local"
    run_batch(relay)
    assert [state for *_, state, _ in list_receipts()] == ["pending"]


def test_lines_of_the_brokers_procfile_run_a_worker_and_a_beat_that_end_in_good_order(
    redis: Redis, start_process: Start, told: Told
) -> None:
    redis.empty()
    lines = parse_procfile((ROOT / "Procfile.broker").read_text()).processes
    ids = cause(3)
    with ExitStack() as processes:
        kept = [
            processes.enter_context(
                start_process(*arguments, program=("-m", "celery"), CELERY_BROKER_URL=redis.url)
            )
            for _, *arguments in (shlex.split(line) for line in lines.values())
        ]
        kept.append(processes.enter_context(start_process("run_relay", CELERY_BROKER_URL=redis.url)))
        wait_until(lambda: all_done(3) or any(each.has_ended for each in kept), seconds=60)
        wait_until(lambda: all(each.has_ended or each.catches(signal.SIGTERM) for each in kept), seconds=60)
        for each in kept:
            each.send(signal.SIGTERM)
        assert [(each.wait(), each.output) for each in kept if each.wait() != 0] == []
    assert told() == Counter(ids)
