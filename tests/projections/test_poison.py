"""O7: an event that no projection can take in, in one of a thousand cells: 999 flow, one waits with all that comes after it, and it alarms."""

import dataclasses
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction

from config.console.route import list_alarms
from config.metrics.figures import read_figures
from outbox.consumers.batches import BatchOutcome, run_batch
from outbox.consumers.consumer import ConsumerHandler
from outbox.log.publish import NewEvent, publish
from outbox.log.sequencer import sequence_events
from outbox.models import ParkedSubject
from projections.analytics.projector import Analytics
from projections.history.projector import MarksheetHistory
from projections.models import AnalyticsMark, MarkHistory
from tests.processes.changes import change_of

pytestmark = pytest.mark.django_db(transaction=True)

CELLS = 1_000
POISONED = 333


def spoil(event: NewEvent) -> NewEvent:
    """Return the event with a mark that is no number: no door lets that through, and an old version's bug might have."""
    payload: dict[str, Any] = {**event.payload, "new": {**event.payload["new"], "value": "eleven"}}
    return dataclasses.replace(event, payload=payload)


def run_until_quiet(handler: ConsumerHandler) -> None:
    while run_batch(handler).outcome is not BatchOutcome.NOTHING_NEW:
        pass


@pytest.mark.parametrize("handler", [MarksheetHistory(), Analytics()], ids=lambda each: each.name)
def test_poison_in_one_of_a_thousand_cells_parks_that_cell_alone_and_alarms(handler: ConsumerHandler) -> None:
    with transaction.atomic():
        publish(
            spoil(change_of(cell, 1)) if cell == POISONED else change_of(cell, 1) for cell in range(CELLS)
        )
    with transaction.atomic():
        publish(change_of(cell, 2) for cell in range(CELLS))
    sequence_events()

    run_until_quiet(handler)

    parked = ParkedSubject.objects.get()
    waiting = list(parked.events.order_by("pos").values_list("pos", flat=True))
    assert (parked.consumer_id, parked.subject, waiting) == (
        handler.name,
        change_of(POISONED, 1).subject,
        [POISONED + 1, CELLS + POISONED + 1],
    )
    if isinstance(handler, MarksheetHistory):
        lines = MarkHistory.objects.values_list("student_name", "new_value").order_by("pos")
        flowing = [f"Student {cell}" for cell in range(CELLS) if cell != POISONED]
        assert list(lines) == [(name, Decimal(version)) for version in (1, 2) for name in flowing]
    else:
        assert dict.fromkeys(AnalyticsMark.objects.values_list("value", flat=True)) == {Decimal(2): None}
        assert AnalyticsMark.objects.count() == CELLS - 1
    alarms = list_alarms(read_figures(), durability=None)
    assert f"{handler.name} has set aside subjects whose event fails: 1." in alarms
