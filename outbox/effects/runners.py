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
from outbox.loop import REST, run_loop
from outbox.stopping import Stop

logger = logging.getLogger(__name__)

THREADS_OUTSIDE = 2  # per effect
# Seconds between two looks when nothing is due. Ten threads at the pace of the log would keep a tenth of a core busy with nothing; the
# second thread of an effect is there for when the first is held up.
REST_OUTSIDE = (0.1, 0.4)
REST_OF_THE_SECOND = (0.5, 1.5)


def make_runners(stop: Stop, failures: list[Exception]) -> list[threading.Thread]:
    """Return the threads that try what is due until told to stop; whatever ends one stops all, and is added to `failures`."""
    effects = list_effects()
    inside = [effect for effect in effects if not effect.outside]
    groups = [(inside, REST)] if inside else []
    for number in range(THREADS_OUTSIDE):
        rest = REST_OF_THE_SECOND if number else REST_OUTSIDE
        groups += [([effect], rest) for effect in effects if effect.outside]
    return [
        threading.Thread(target=_run, args=(group, stop, failures, rest), name=f"effects:{group[0].name}")
        for group, rest in groups
    ]


def _run(effects: Sequence[Effect], stop: Stop, failures: list[Exception], rest: tuple[float, float]) -> None:
    at_most = 1 if effects[0].outside else AT_ONCE

    try:
        run_loop(lambda: run_due_effects(effects, at_most=at_most) > 0, stop, rest=rest)
    except Exception as error:
        logger.exception("The runner of %s cannot go on.", ", ".join(effect.name for effect in effects))
        failures.append(error)
        stop.set()
    finally:
        connection.close()
