"""Handing hints to the broker and waiting until it has confirmed every one of them.

The one thing to know: `publish` returns only when the broker has taken responsibility for all messages, and raises `Unavailable` for every
doubt: a time limit, a lost connection, a refusal, a message no queue was there for. Then some may have arrived and all
are sent again, which is harmless: the receipt is in PostgreSQL.

RabbitMQ confirms a durable message once it is on its disk (or its replicas'). Redis answers once it is in its memory; what a crash of it takes along
is sent again by the sweeper, because its effect did not happen. RabbitMQ's confirms are awaited for all messages together: one
by one, as kombu does it with `confirm_publish`, each costs a round trip and a flush.
"""

import logging
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from celery import Celery, current_app
from django.conf import settings
from kombu.connection import Connection
from kombu.messaging import Producer

from outbox.effects.receipts import Message
from outbox.errors import Unavailable

logger = logging.getLogger(__name__)

TASK = "outbox.run_effect"
CORRELATION = (
    "correlation_id"  # a header of ours: for whoever looks at the broker's queues, nobody acts on it
)
LONGEST_WAIT = 4.0  # seconds for one call; less than a frozen batch may hold the relay's row (`outbox.consumers.cursors`)
SMALLEST_WAIT = 0.05
SOCKET_LIMITS = {
    "amqp": {"connect_timeout": LONGEST_WAIT, "read_timeout": LONGEST_WAIT, "write_timeout": LONGEST_WAIT},
    "redis": {"socket_connect_timeout": LONGEST_WAIT, "socket_timeout": LONGEST_WAIT},
}


class Confirms:
    """Counts a channel's confirmations, and remembers any refusal. A refused or returned message spoils the whole call."""

    def __init__(self, channel: Any) -> None:
        self.waiting: set[int] = set()
        self.refused: list[str] = []
        self._next = 1
        channel.events["basic_ack"].add(self._ack)
        channel.events["basic_nack"].add(self._nack)
        channel.events["basic_return"].add(self._give_back)
        channel.confirm_select()

    def expect(self) -> None:
        """Count one more message that was sent."""
        self.waiting.add(self._next)
        self._next += 1

    def _ack(self, tag: int, multiple: bool) -> None:  # noqa: FBT001 - amqp calls it
        self.waiting = {each for each in self.waiting if each > tag} if multiple else self.waiting - {tag}

    def _nack(self, tag: int, multiple: bool) -> None:  # noqa: FBT001 - amqp calls it
        self.refused.append("The broker refused a message.")
        self._ack(tag, multiple)

    def _give_back(self, reason: object, *_: object) -> None:
        self.refused.append(f"The broker has no queue for a message: {reason}")


class CeleryPublisher:
    """Sends tasks to Celery's workers over a connection of its own, kept from call to call. Not for several threads."""

    def __init__(
        self, url: str | None = None, *, app: Celery | None = None, wait: float = LONGEST_WAIT
    ) -> None:
        self._app = app or current_app
        self._url = url or settings.CELERY_BROKER_URL
        self._wait = wait
        self._connection: Connection | None = None
        self._producer: Producer | None = None
        self._confirms: Confirms | None = None

    def publish(self, messages: Sequence[Message]) -> None:
        """Send them and wait for every confirmation."""
        try:
            self._send(messages)
        except Exception as error:
            self.close()
            if isinstance(error, Unavailable):
                raise
            raise Unavailable(f"The broker is away: {type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Forget the connection, whatever state it is in."""
        connection, self._connection, self._producer, self._confirms = self._connection, None, None, None
        if connection is not None:
            connection.collect(socket_timeout=SMALLEST_WAIT)

    def _send(self, messages: Sequence[Message]) -> None:
        if self._producer is None:
            self._connect()
        until = time.monotonic() + self._wait
        queue = self._app.conf.task_default_queue
        for message in messages:
            self._send_one(message, queue)
        self._await_confirms(until)

    def _connect(self) -> None:
        options = SOCKET_LIMITS["redis" if urlsplit(self._url).scheme.startswith("redis") else "amqp"]
        self._connection = self._app.connection_for_write(
            self._url, transport_options={**options, "confirm_publish": False}
        )
        channel = self._connection.default_channel
        self._producer = Producer(channel, serializer="json")
        self._app.amqp.queues[self._app.conf.task_default_queue](channel).declare()
        if self._connection.transport.driver_type == "amqp":
            self._confirms = Confirms(channel)

    def _send_one(self, message: Message, queue: str) -> None:
        assert self._producer is not None
        name = ".".join(filter(None, (str(message.event_id), message.effect, message.target)))
        task = self._app.amqp.as_task_v2(name, TASK, args=as_arguments(message), kwargs={})
        if self._confirms is not None:
            self._confirms.expect()
        self._producer.publish(
            task.body,
            routing_key=queue,
            headers={**task.headers, CORRELATION: str(message.correlation_id or message.event_id)},
            delivery_mode=2,
            mandatory=True,
            **task.properties,
        )

    def _await_confirms(self, until: float) -> None:
        confirms, connection = self._confirms, self._connection
        if confirms is None or connection is None:
            return
        while confirms.waiting:
            connection.drain_events(timeout=max(SMALLEST_WAIT, until - time.monotonic()))
            if time.monotonic() > until and confirms.waiting:
                raise Unavailable(f"The broker did not confirm {len(confirms.waiting)} messages in time.")
        if confirms.refused:
            raise Unavailable(confirms.refused[0])


def as_arguments(message: Message) -> list[Any]:
    """Return a message as a task's arguments: ids and names."""
    return [str(message.event_id), message.effect, message.target, message.pos]
