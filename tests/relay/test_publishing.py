"""Handing messages to a real broker: returning means confirmed, and every doubt is `Unavailable`."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from kombu.connection import Connection

from config.celery import app
from outbox.effects.publishing import CeleryPublisher
from outbox.effects.receipts import Message
from outbox.errors import Unavailable
from tests.brokers import QUEUE, Broker, RabbitMQ, Redis
from tests.serving import find_free_port

pytestmark = [pytest.mark.process, pytest.mark.xdist_group("brokers"), pytest.mark.timeout(300)]


@pytest.fixture(params=["redis", "rabbitmq"])
def broker(request: pytest.FixtureRequest) -> Broker:
    """Each of the two, with an empty queue."""
    found: Broker = request.getfixturevalue(request.param)
    found.empty()
    return found


@pytest.fixture
def publisher(broker: Broker) -> Iterator[CeleryPublisher]:
    publisher = CeleryPublisher(broker.url, app=app)
    yield publisher
    publisher.close()


def make_messages(count: int) -> list[Message]:
    return [Message(uuid4(), "tell", "", number) for number in range(1, count + 1)]


def read_queue(broker: Broker, count: int) -> list[tuple[str, list[object]]]:
    """Take so many messages from the queue; return each task's id and arguments."""
    found = []
    with Connection(broker.url) as connection, connection.SimpleQueue(QUEUE) as queue:
        for _ in range(count):
            message = queue.get(timeout=5)
            found.append((message.headers["id"], message.payload[0]))
            message.ack()
    return found


def test_messages_are_in_the_queue_when_publish_returns_and_carry_names_only(
    broker: Broker, publisher: CeleryPublisher
) -> None:
    messages = make_messages(300)
    publisher.publish(messages)
    assert broker.count_messages() == 300
    assert read_queue(broker, 300) == [
        (f"{message.event_id}.tell", [str(message.event_id), "tell", "", message.pos]) for message in messages
    ]


def test_message_carries_what_its_event_was_joined_to_or_else_the_event(
    broker: Broker, publisher: CeleryPublisher
) -> None:
    joined, alone = Message(uuid4(), "tell", "", 1, correlation_id=uuid4()), Message(uuid4(), "tell", "", 2)
    publisher.publish([joined, alone])
    with Connection(broker.url) as connection, connection.SimpleQueue(QUEUE) as queue:
        found = [queue.get(timeout=5) for _ in range(2)]
        for message in found:
            message.ack()
    assert [message.headers["correlation_id"] for message in found] == [
        str(joined.correlation_id),
        str(alone.event_id),
    ]


def test_broker_that_is_not_there_is_unavailable() -> None:
    publisher = CeleryPublisher(f"amqp://guest:guest@127.0.0.1:{find_free_port()}//", app=app)
    with pytest.raises(Unavailable, match="Connection refused"):
        publisher.publish(make_messages(1))


def test_frozen_broker_is_unavailable_in_time_and_used_again_when_it_wakes(broker: Broker) -> None:
    publisher = CeleryPublisher(broker.url, app=app, wait=1.0)
    publisher.publish(make_messages(1))
    broker.freeze()
    try:
        with pytest.raises(Unavailable):
            publisher.publish(make_messages(1))
    finally:
        broker.thaw()
    publisher.publish(make_messages(1))
    publisher.close()
    assert broker.count_messages() in (2, 3)  # what was unknown may have arrived


def test_broker_killed_and_back_with_nothing_gets_what_is_published_then(
    broker: Broker, publisher: CeleryPublisher
) -> None:
    publisher.publish(make_messages(5))
    broker.lose_everything()
    with pytest.raises(Unavailable):
        publisher.publish(make_messages(5))
    broker.start()
    publisher.publish(make_messages(5))
    assert broker.count_messages() == 5


def test_message_without_a_queue_is_not_taken_for_confirmed(rabbitmq: RabbitMQ) -> None:
    publisher = CeleryPublisher(rabbitmq.url, app=app)
    publisher.publish(make_messages(1))
    rabbitmq.empty()
    with pytest.raises(Unavailable, match="no queue"):
        publisher.publish(make_messages(1))
    publisher.publish(make_messages(1))  # a new connection declares it again
    publisher.close()
    assert rabbitmq.count_messages() == 1


def test_message_the_broker_refuses_is_not_taken_for_confirmed(rabbitmq: RabbitMQ) -> None:
    rabbitmq.empty()
    with Connection(rabbitmq.url) as connection, connection.channel() as channel:
        arguments = {"x-max-length": 2, "x-overflow": "reject-publish"}
        channel.queue_declare(QUEUE, durable=True, auto_delete=False, arguments=arguments)
    publisher = CeleryPublisher(rabbitmq.url, app=app)
    try:
        publisher._app.amqp.queues[QUEUE].queue_arguments = arguments
        with pytest.raises(Unavailable, match="refused"):
            publisher.publish(make_messages(3))
    finally:
        publisher._app.amqp.queues[QUEUE].queue_arguments = None
        rabbitmq.empty()


def test_redis_answers_for_its_memory_only(redis: Redis) -> None:
    """What is written down in ADR 0012: Redis's word is weaker, so the sweeper sends again what has not happened."""
    publisher = CeleryPublisher(redis.url, app=app)
    publisher.publish(make_messages(3))
    publisher.close()
    redis.lose_everything()
    redis.start()
    assert redis.count_messages() == 0
