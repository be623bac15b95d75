"""What the database knows about the path of the work, read together and kept for a few seconds: the meters' and the console's one source."""

import dataclasses
from datetime import timedelta

from config.health.cached import Cached
from config.health.overall import FRESH
from outbox.consumers.staleness import ConsumerStatus, get_sequencer_lag, list_consumer_statuses
from outbox.effects.status import RelayStatus, get_relay_status
from outbox.processes import list_roles_alive
from outbox.queue.status import QueueStatus, get_queue_status

SECONDS_KEPT = 3.0
PATIENCE = 5.0  # half of what Prometheus waits for a scrape


@dataclasses.dataclass(frozen=True, slots=True)
class Figures:
    """One look."""

    queue: QueueStatus
    sequencer_lag: timedelta
    consumers: tuple[ConsumerStatus, ...]
    relay: RelayStatus
    roles_alive: frozenset[str]


def read_figures() -> Figures:
    """Ask the database, in ten queries; one of them reads the hot table of jobs whole."""
    return Figures(
        queue=get_queue_status(),
        sequencer_lag=get_sequencer_lag(),
        consumers=tuple(list_consumer_statuses()),
        relay=get_relay_status(),
        roles_alive=frozenset(list_roles_alive(FRESH)),
    )


figures = Cached(read_figures, seconds=SECONDS_KEPT, patience=PATIENCE)
