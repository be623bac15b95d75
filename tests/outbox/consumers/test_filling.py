"""Filling a whole span at a time gives what the careful way gives, and steps aside where it could not."""

from collections.abc import Iterator

import pytest
from django.db import connection

from outbox.consumers import registry
from outbox.consumers.batches import BatchOutcome, Progress, run_batch
from outbox.consumers.consumer import Batch, Span
from outbox.consumers.filling import MEMORY
from outbox.consumers.parking import release_subject
from outbox.consumers.rebuild import begin_rebuild, rebuild
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer, ParkedSubject
from outbox.stopping import Stop
from tests.outbox.consumers.noted import TABLE, ThingsNoted, deliver, noted
from tests.outbox.things import append, append_things, new_event

__all__ = ["noted"]
pytestmark = pytest.mark.django_db(transaction=True)


class ThingsFilled(ThingsNoted):
    """The test projection, one that can be filled: it counts which way its events came."""

    def __init__(self, name: str = "things_noted", table: str = TABLE) -> None:
        super().__init__(name, table)
        self.filled: list[tuple[int, int]] = []
        self.applied: list[int] = []

    def apply(self, batch: Batch) -> None:
        super().apply(batch)
        self.applied += batch.positions

    def fill(self, span: Span) -> int:
        rows = span.execute("tests.outbox.consumers", "fill_things")
        self.filled.append((span.first, span.last))
        return rows


@pytest.fixture
def filled(noted: ThingsNoted) -> Iterator[ThingsFilled]:
    """It takes the place of the ordinary one, on the same table."""
    handler = ThingsFilled()
    registry.unregister(noted.name)
    registry.register(handler)
    yield handler
    registry.unregister(handler.name)
    registry.register(noted)


def replay(handler: ThingsFilled) -> None:
    """Rebuild to the head, forgetting how the events came before."""
    handler.filled, handler.applied = [], []
    with Stop() as stop:
        rebuild(handler, stop, report=lambda *_: None)


def test_rebuild_fills_whole_spans_with_what_following_gave(
    filled: ThingsFilled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outbox.consumers.rebuild.REPLAYED_AT_ONCE", 4)
    append_things(3)
    append_things(3, subject="thing:2", kind="ThingLost")
    append_things(3, subject="thing:3")
    deliver(filled)
    before = filled.list_rows()
    assert filled.filled == []

    replay(filled)

    assert (filled.list_rows(), filled.filled, filled.applied) == (before, [(1, 4), (5, 8), (9, 9)], [])


def test_span_is_told_by_its_events_not_by_its_length(filled: ThingsFilled) -> None:
    append([new_event(version=1), new_event(version=2, kind="ThingLost"), new_event(version=3)])
    deliver(filled)
    begin_rebuild(filled)

    assert run_batch(filled) == Progress(BatchOutcome.ADVANCED, applied=2, position=3, head=3)


def test_consumer_that_follows_is_never_filled(filled: ThingsFilled) -> None:
    append_things(2)
    deliver(filled)
    replay(filled)
    append_things(2, first=3)

    deliver(filled)

    assert (filled.filled, filled.applied) == ([(1, 2)], [3, 4])


def test_poison_in_a_span_is_found_by_the_careful_way_and_its_subject_waits(filled: ThingsFilled) -> None:
    append(
        [
            new_event("thing:1", 1),
            new_event("thing:2", 1, note="poison"),
            new_event("thing:2", 2),
            new_event("thing:3", 1),
        ]
    )
    sequence_events()

    begin_rebuild(filled)
    outcomes = []
    while (progress := run_batch(filled, limit=3)).outcome is not BatchOutcome.NOTHING_NEW:
        outcomes.append(progress.outcome)

    assert outcomes == [BatchOutcome.FAILING] * 2 + [BatchOutcome.PARKED] + [BatchOutcome.ADVANCED]
    assert filled.list_noted() == [("thing:1", 1), ("thing:3", 1)]
    assert (filled.filled, filled.applied) == (
        [],
        [1, 4],
    )  # once something is parked, everything goes the careful way
    (parked,) = ParkedSubject.objects.all()
    assert list(parked.events.order_by("pos").values_list("pos", flat=True)) == [2, 3]


def test_span_that_fails_is_looked_through_a_part_at_a_time(
    filled: ThingsFilled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outbox.consumers.batches.MOST_WITH_CARE", 2)
    append_things(4)
    append([new_event("thing:2", note="poison")])
    sequence_events()
    begin_rebuild(filled)

    progress = [run_batch(filled, limit=100) for _ in range(3)]

    assert progress == [
        Progress(BatchOutcome.ADVANCED, applied=2, position=2, head=5),
        Progress(BatchOutcome.ADVANCED, applied=2, position=4, head=5),
        Progress(BatchOutcome.FAILING, applied=0, position=4, head=5),
    ]
    assert (filled.filled, filled.applied) == ([], [1, 2, 3, 4])


def test_memory_for_sorting_is_taken_for_a_span_and_not_kept(
    filled: ThingsFilled, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SHOW work_mem")
            return str(cursor.fetchone()[0])

    def fill(span: Span) -> int:
        given.append(read())
        return ThingsFilled.fill(filled, span)

    given: list[str] = []
    monkeypatch.setattr(filled, "fill", fill)
    append_things(1)
    deliver(filled)
    before = read()

    replay(filled)

    assert (given, read()) == ([MEMORY], before)
    assert before != MEMORY


def test_released_subject_is_replayed_while_the_rest_is_filled(filled: ThingsFilled) -> None:
    append([new_event("thing:1", 1, note="poison"), new_event("thing:2", 1), new_event("thing:2", 2)])
    sequence_events()
    begin_rebuild(filled)
    while run_batch(filled, limit=1).outcome is not BatchOutcome.PARKED:
        pass
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {TABLE} DROP CONSTRAINT {TABLE}_note_check")
    release_subject(filled, "thing:1")

    run_batch(filled)

    assert filled.list_noted() == [("thing:1", 1), ("thing:2", 1), ("thing:2", 2)]
    assert (filled.filled, filled.applied) == ([(2, 3)], [1])


def test_failure_that_shows_only_at_commit_keeps_nothing_of_the_span(filled: ThingsFilled) -> None:
    # The table's rule is deferred: without an early check, the batch would fail at its commit for ever and name nobody.
    append_things(2)
    deliver(filled)
    begin_rebuild(filled)
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {TABLE} (pos, subject, version) VALUES (99, 'thing:1', 2)")

    progress = run_batch(filled)

    assert progress == Progress(BatchOutcome.FAILING, applied=1, position=1, head=2)
    assert Consumer.objects.get().failing_pos == 2
