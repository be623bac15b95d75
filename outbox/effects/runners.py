"""Running effects without a broker: threads in the relay's own process, so that one that hangs holds up only its like.

All effects of the database share a thread, because they are quick and share transactions. Each effect outside has threads of its
own. With a broker nobody runs these: Celery's workers do the work.
"""

import logging
import threading
from collections.abc import Sequence

from django.db import connection

from outbox.effects.registry import Effect, list_effects
from outbox.effects.running import AT_ONCE, run_due_effects
from outbox.loop import run_loop
from outbox.stopping import Stop

logger = logging.getLogger(__name__)

THREADS_OUTSIDE = 2  # per effect


def make_runners(stop: Stop, failures: list[Exception]) -> list[threading.Thread]:
    """Return the threads that try what is due until told to stop; whatever ends one stops all, and is added to `failures`."""
    effects = list_effects()
    inside = [effect for effect in effects if not effect.outside]
    groups = [inside] if inside else []
    groups += [[effect] for effect in effects if effect.outside for _ in range(THREADS_OUTSIDE)]
    return [
        threading.Thread(target=_run, args=(group, stop, failures), name=f"effects:{group[0].name}")
        for group in groups
    ]


def _run(effects: Sequence[Effect], stop: Stop, failures: list[Exception]) -> None:
    at_most = 1 if effects[0].outside else AT_ONCE

    try:
        run_loop(lambda: run_due_effects(effects, at_most=at_most) > 0, stop)
    except Exception as error:
        logger.exception("The runner of %s cannot go on.", ", ".join(effect.name for effect in effects))
        failures.append(error)
        stop.set()
    finally:
        connection.close()
