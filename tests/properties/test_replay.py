"""Replay = incremental: however the log was cut into batches on the way, replaying it from the start gives the same history."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from outbox.consumers.batches import BatchOutcome, run_batch
from outbox.consumers.rebuild import begin_rebuild
from outbox.log.publish import publish
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer, Event, EventPosition, Tick
from projections.history.projector import MarksheetHistory
from projections.models import MarkHistory
from tests.examples import examples
from tests.projections.changes import Cell, brief, lines

pytestmark = pytest.mark.django_db(transaction=True)

# What happens next: a cell is changed (which one, to what), the sequencer passes, or the consumer takes a batch of some size.
CHANGES = st.tuples(st.integers(0, 3), st.sampled_from(["0", "5", "7.5", "10", None]))
STEPS = st.lists(st.one_of(CHANGES, st.just("pass"), st.integers(1, 7)), max_size=40)


@examples(15)
@given(steps=STEPS)
def test_replay_of_the_log_gives_what_following_it_gave(steps: Sequence[Any]) -> None:
    _forget_everything()
    cells = [Cell() for _ in range(4)]
    expected: list[tuple[str | None, str, str | None, str]] = []
    for step in steps:
        _do(step, cells, expected)
    sequence_events()
    _catch_up(limit=500)
    followed = lines()
    assert brief() == expected

    MarkHistory.objects.all().delete()
    Consumer.objects.update(position=0)
    _catch_up(limit=3)
    assert lines() == followed

    begin_rebuild(MarksheetHistory())
    _catch_up(limit=3)
    assert lines() == followed


def _do(step: Any, cells: Sequence[Cell], expected: list[Any]) -> None:
    if step == "pass":
        sequence_events()
    elif isinstance(step, int):
        run_batch(MarksheetHistory(), limit=step)
    else:
        number, value = step
        before = cells[number].shown
        with transaction.atomic():
            publish([cells[number].change(value)])
        expected.append((before and before.value, "", value, ""))


def _catch_up(limit: int) -> None:
    while run_batch(MarksheetHistory(), limit=limit).outcome is BatchOutcome.ADVANCED:
        pass


def _forget_everything() -> None:
    """Hypothesis tries many logs in one test; each begins with none."""
    tables = [model._meta.db_table for model in (MarkHistory, Consumer, Event, EventPosition, Tick)]
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(tables)} CASCADE")
