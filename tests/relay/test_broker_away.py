"""O6 at its full figure: the broker is away for ten minutes and comes back empty, while events go on. `CHAOS_SECONDS` makes it shorter."""

import os
import time
from collections import Counter
from collections.abc import Callable
from uuid import UUID

import pytest

import config.celery
from outbox.effects.status import get_relay_status
from outbox.models import Consumer
from tests.brokers import Broker
from tests.relay.effects import cause
from tests.relay.processes import Start, celery_worker, resend_until_done, start_process, told
from tests.waiting import wait_until

__all__ = ["start_process", "told"]
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.process,
    pytest.mark.chaos,
    pytest.mark.timeout(1_800),
]
SECONDS = float(os.environ.get("CHAOS_SECONDS", "600"))
BACK_WITHIN = 60.0
assert config.celery.app, "makes our app Celery's current one"


def get_cursor() -> int:
    return Consumer.objects.values_list("position", flat=True).get(name="relay")


@pytest.mark.parametrize("kind", ["redis", "rabbitmq"])
def test_o6_broker_away_for_long_and_back_empty_costs_time_and_nothing_else(
    kind: str,
    request: pytest.FixtureRequest,
    start_process: Start,
    told: Callable[[], Counter[UUID]],
) -> None:
    broker: Broker = request.getfixturevalue(kind)
    with start_process("run_relay", CELERY_BROKER_URL=broker.url), celery_worker(start_process, broker.url):
        ids = cause(50)
        wait_until(lambda: get_relay_status().age.total_seconds() == 0, seconds=60)
        handed_on = get_cursor()
        broker.lose_everything()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            ids += cause(2)
            time.sleep(1.0)
        age = get_relay_status().age.total_seconds()
        assert get_cursor() == handed_on, "nothing is behind the cursor that was not confirmed"

        broker.start()
        back = time.monotonic()
        wait_until(lambda: get_relay_status().age.total_seconds() == 0, seconds=BACK_WITHIN)
        print(  # noqa: T201 - the figure is what a full run is for
            f"\nO6 {kind}: {len(ids)} events, relay {age:.0f} s behind, caught up {time.monotonic() - back:.1f} s after the broker was back"
        )
        resend_until_done(broker.url, len(ids))
    assert told() == Counter(ids)
