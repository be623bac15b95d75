"""How many events a second the relay hands to RabbitMQ with confirms, against kombu publishing the same messages with confirms.

Ours reads the events, finds their effects, publishes, awaits every confirm, writes the receipts and moves its cursor in PostgreSQL. The
reference only publishes, as kombu does it with `confirm_publish`: the same tasks to the same durable queue.
"""

from collections.abc import Iterator
from uuid import UUID, uuid4

from django.db import connection
from kombu.connection import Connection
from kombu.messaging import Producer

from config.celery import app
from outbox.consumers.batches import run_batch
from outbox.effects import Effect, register_effect
from outbox.effects.publishing import TASK, CeleryPublisher, as_arguments
from outbox.effects.receipts import Message
from outbox.effects.relay import Relay
from outbox.log.sequencer import sequence_events
from outbox.models import EffectReceipt
from tests.benchmarks.harness import BenchDatabase, paired, run, timed
from tests.benchmarks.results import Row
from tests.brokers import RabbitMQ

EVENTS = 10_000
KIND = "SomethingCaused"
QUEUE = "handover"
FILL = """
    INSERT INTO outbox_event (event_id, kind, subject, subject_version, actor_type, payload)
    SELECT gen_random_uuid(), 'SomethingCaused', format('thing:%%s', number), 1, 'policy', jsonb_build_object('n', number)
    FROM generate_series(1, %(events)s) AS number
"""
EMPTY = (
    "TRUNCATE outbox_event, outbox_eventposition, outbox_tick, outbox_effectreceipt, outbox_consumer CASCADE"
)


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Compare the two in turns on one broker."""
    register_effect(Effect("benchmark", frozenset({KIND}), lambda _: None))
    with RabbitMQ() as broker:
        yield paired(
            "relay, events/s to RabbitMQ with confirms, to kombu publishing the same with confirms",
            lambda: relay_all(database, broker),
            lambda: publish_plainly(broker),
            reach=0.7,
        )


def relay_all(database: BenchDatabase, broker: RabbitMQ) -> float:
    """Return how many events a second the relay hands on."""
    with connection.cursor() as cursor:
        cursor.execute(EMPTY)
        cursor.execute(FILL, {"events": EVENTS})
    sequence_events()
    database.vacuum("outbox_event", "outbox_eventposition")
    publisher = CeleryPublisher(broker.url, app=app)
    relay = Relay(lambda: publisher)

    def work() -> None:
        while run_batch(relay).more:
            pass

    seconds = timed(work)
    publisher.close()
    assert take_away(broker) == EVENTS
    assert EffectReceipt.objects.count() == EVENTS
    return EVENTS / seconds


def publish_plainly(broker: RabbitMQ) -> float:
    """Return how many messages a second kombu publishes, each confirmed before the next."""
    messages = [Message(uuid4(), "benchmark", "", number) for number in range(EVENTS)]
    with Connection(broker.url, transport_options={"confirm_publish": True}) as plain:
        producer = Producer(plain.default_channel, serializer="json")
        app.amqp.queues[QUEUE](plain.default_channel).declare()

        def work() -> None:
            for message in messages:
                task = app.amqp.as_task_v2(
                    name(message.event_id), TASK, args=as_arguments(message), kwargs={}
                )
                producer.publish(
                    task.body, routing_key=QUEUE, headers=task.headers, delivery_mode=2, **task.properties
                )

        seconds = timed(work)
    assert take_away(broker) == EVENTS
    return EVENTS / seconds


def name(event_id: UUID) -> str:
    """Return a task's id as the relay gives it."""
    return f"{event_id}.benchmark"


def take_away(broker: RabbitMQ) -> int:
    """Empty the queue and return how many messages were in it."""
    with Connection(broker.url) as plain:
        return int(plain.default_channel.queue_purge(QUEUE))


if __name__ == "__main__":
    run("relay", measure)
