"""Following the log for ever: one consumer, or several in one process, each in a thread and at its own pace."""

import logging
import random
from collections.abc import Sequence
from functools import partial

from outbox.consumers.batches import LIMIT, BatchOutcome, run_batch
from outbox.consumers.careful import Care
from outbox.consumers.consumer import ConsumerHandler
from outbox.errors import OutboxError
from outbox.loop import run_apart, run_loop
from outbox.processes import Heart
from outbox.stopping import Stop

logger = logging.getLogger(__name__)

ASK_AGAIN = (5.0, 10.0)  # seconds until a consumer that refused to run looks whether a person has helped
SETTLED = {BatchOutcome.NOTHING_NEW, BatchOutcome.PAUSED}


def follow(handler: ConsumerHandler, stop: Stop, *, limit: int = LIMIT) -> None:
    """Follow the log until told to stop: at once again while there is more, else look every 50 to 200 ms.

    Raises OutboxError when the consumer must not run: its cursor is of another epoch, or ahead of the log.
    """
    heart = Heart(f"consumer:{handler.name}")
    care = Care(handler, heart)

    def step() -> bool:
        heart.beat()
        return care.run_batch(limit=limit).more

    try:
        run_loop(step, stop)
    except OutboxError:
        heart.stop()  # it refuses to run, and nobody may take it for alive
        raise
    heart.stop()


def follow_all(handlers: Sequence[ConsumerHandler], stop: Stop, *, limit: int = LIMIT) -> None:
    """Follow with several consumers. One that refuses to run is asked again now and then and holds nobody up.

    Any other failure stops them all and is raised, so that the supervisor starts a fresh process.
    """
    if len(handlers) == 1:
        follow(handlers[0], stop, limit=limit)
        return
    run_apart([(each.name, partial(_follow_apart, each, stop, limit)) for each in handlers], stop)


def catch_up(handler: ConsumerHandler, stop: Stop, *, limit: int = LIMIT) -> None:
    """Run batches until the consumer is at the head, or paused, or told to stop."""

    def step() -> bool:
        progress = run_batch(handler, limit=limit)
        if progress.outcome in SETTLED:
            stop.set()
        return progress.more

    run_loop(step, stop)


def _follow_apart(handler: ConsumerHandler, stop: Stop, limit: int) -> None:
    while not stop.is_set:
        try:
            follow(handler, stop, limit=limit)
        except OutboxError as refusal:
            logger.error("%s does not run: %s", handler.name, refusal)  # noqa: TRY400 - the words are all there is
            stop.wait(random.uniform(*ASK_AGAIN))  # noqa: S311 - jitter, not a secret
