"""Poison: one event that cannot be applied delays its own subject and nobody else."""

import logging

import pytest
from django.db import OperationalError

from outbox.consumers.batches import BatchOutcome, Progress, run_batch
from outbox.consumers.consumer import Batch
from outbox.consumers.parking import Release, list_parked_subjects, release_subject
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer, ParkedEvent, ParkedSubject
from tests.outbox.consumers.noted import ThingsNoted, noted
from tests.outbox.things import append, new_event

__all__ = ["noted"]
pytestmark = pytest.mark.django_db(transaction=True)
POISON = "poison"


def refuse(*subjects_and_versions: tuple[str, int]) -> object:
    """Make an interrupt that refuses these events, as a defect of the handler would."""

    def interrupt(batch: Batch) -> None:
        for event in batch.read_events():
            if (event.subject, event.subject_version) in subjects_and_versions:
                raise ValueError(f"cannot read {event.subject}")

    return interrupt


def list_parked(handler: ThingsNoted) -> list[tuple[str, int, list[int]]]:
    """Return (subject, tries, waiting positions) of everything parked."""
    return [
        (parked.subject, parked.tries, list(parked.events.order_by("pos").values_list("pos", flat=True)))
        for parked in list_parked_subjects(handler.name)
    ]


def run_until_quiet(handler: ThingsNoted) -> list[BatchOutcome]:
    """Run batches until there is nothing new; return how each ended."""
    outcomes: list[BatchOutcome] = []
    while (progress := run_batch(handler)).outcome is not BatchOutcome.NOTHING_NEW:
        outcomes.append(progress.outcome)
    return outcomes


def test_poison_is_tried_three_times_then_its_subject_is_parked_and_all_others_flow(
    noted: ThingsNoted, caplog: pytest.LogCaptureFixture
) -> None:
    append(
        [
            new_event("thing:1", 1),
            new_event("thing:2", 1, note=POISON),
            new_event("thing:3", 1),
            new_event("thing:2", 2),
            new_event("thing:1", 2),
        ]
    )
    sequence_events()

    with caplog.at_level(logging.ERROR):
        outcomes = run_until_quiet(noted)

    assert outcomes == [
        BatchOutcome.FAILING,
        BatchOutcome.FAILING,
        BatchOutcome.PARKED,
        BatchOutcome.ADVANCED,
    ]
    assert noted.list_noted() == [("thing:1", 1), ("thing:3", 1), ("thing:1", 2)]
    assert list_parked(noted) == [("thing:2", 3, [2, 4])]
    assert "things_noted parked thing:2 at position 2: IntegrityError" in caplog.text


def test_events_before_the_poison_are_applied_at_the_first_try(noted: ThingsNoted) -> None:
    append([new_event("thing:1", 1), new_event("thing:1", 2), new_event("thing:2", 1, note=POISON)])
    sequence_events()

    assert run_batch(noted) == Progress(BatchOutcome.FAILING, applied=2, position=2, head=3)
    assert noted.list_noted() == [("thing:1", 1), ("thing:1", 2)]
    consumer = Consumer.objects.get()
    assert (consumer.failing_pos, consumer.failing_tries) == (3, 1)
    assert consumer.failing_error.startswith("IntegrityError: ")


def test_poison_that_passes_at_a_later_try_parks_nobody(noted: ThingsNoted) -> None:
    append([new_event("thing:1", 1)])
    sequence_events()
    noted.interrupt = refuse(("thing:1", 1))  # type: ignore[assignment]
    assert [run_batch(noted).outcome for _ in range(2)] == [BatchOutcome.FAILING] * 2

    noted.interrupt = None

    assert run_batch(noted).outcome is BatchOutcome.ADVANCED
    assert ParkedSubject.objects.count() == 0
    consumer = Consumer.objects.get()
    assert (consumer.failing_pos, consumer.failing_tries, consumer.failing_error) == (None, 0, "")


def test_tries_of_one_event_are_not_counted_for_the_next(noted: ThingsNoted) -> None:
    append([new_event("thing:1", 1, note=POISON), new_event("thing:2", 1, note=POISON)])
    sequence_events()

    outcomes = run_until_quiet(noted)

    assert outcomes == [BatchOutcome.FAILING, BatchOutcome.FAILING, BatchOutcome.PARKED] * 2
    assert list_parked(noted) == [("thing:1", 3, [1]), ("thing:2", 3, [2])]


def test_poison_that_shows_only_at_commit_is_found_too(noted: ThingsNoted) -> None:
    # The table's unique rule is deferred: nothing fails before the constraint is checked.
    append([new_event("thing:1", 1)])
    run_once = sequence_events()
    assert run_once.count == 1
    run_batch(noted)
    noted.interrupt = _repeat_first_row
    append([new_event("thing:1", 2), new_event("thing:2", 1)])
    sequence_events()

    outcomes = [run_batch(noted).outcome for _ in range(3)]

    assert outcomes == [BatchOutcome.FAILING, BatchOutcome.FAILING, BatchOutcome.PARKED]
    assert list_parked(noted) == [("thing:1", 3, [2])]


def _repeat_first_row(_batch: Batch) -> None:
    from django.db import connection  # noqa: PLC0415 - used here only

    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO things_noted (pos, subject, version) VALUES (1000, 'thing:1', 1)")


def test_hundreds_of_healthy_neighbours_are_applied_in_the_same_three_tries(noted: ThingsNoted) -> None:
    append(new_event(f"thing:{number}", note=POISON if number == 333 else "fine") for number in range(1, 501))
    sequence_events()

    outcomes = run_until_quiet(noted)

    assert outcomes == [
        BatchOutcome.FAILING,
        BatchOutcome.FAILING,
        BatchOutcome.PARKED,
        BatchOutcome.ADVANCED,
    ]
    assert noted.list_noted() == [(f"thing:{number}", 1) for number in range(1, 501) if number != 333]
    assert list_parked(noted) == [("thing:333", 3, [333])]


def test_transient_error_is_raised_and_never_counts_as_poison(noted: ThingsNoted) -> None:
    append([new_event()])
    sequence_events()

    def lose_connection(_batch: Batch) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    noted.interrupt = lose_connection
    with pytest.raises(OperationalError, match="server closed"):
        run_batch(noted)

    assert Consumer.objects.get().failing_tries == 0
    noted.interrupt = None
    assert run_until_quiet(noted) == [BatchOutcome.ADVANCED]


def test_release_replays_what_waited_in_order_and_frees_the_subject(noted: ThingsNoted) -> None:
    append([new_event("thing:1", version) for version in (1, 2, 3)])
    sequence_events()
    noted.interrupt = refuse(("thing:1", 1))  # type: ignore[assignment]
    run_until_quiet(noted)
    assert list_parked(noted) == [("thing:1", 3, [1, 2, 3])]

    noted.interrupt = None
    release = release_subject(noted, "thing:1")

    assert release == Release(replayed=3)
    assert noted.list_noted() == [("thing:1", 1), ("thing:1", 2), ("thing:1", 3)]
    assert (ParkedSubject.objects.count(), ParkedEvent.objects.count()) == (0, 0)


def test_release_stops_at_the_event_that_still_fails_and_keeps_the_rest_parked(noted: ThingsNoted) -> None:
    append([new_event("thing:1", version) for version in (1, 2, 3)])
    sequence_events()
    noted.interrupt = refuse(("thing:1", 1))  # type: ignore[assignment]
    run_until_quiet(noted)

    noted.interrupt = refuse(("thing:1", 2))  # type: ignore[assignment]
    release = release_subject(noted, "thing:1")

    assert (release.replayed, release.poison and release.poison.pos) == (1, 2)
    assert noted.list_noted() == [("thing:1", 1)]
    assert list_parked(noted) == [("thing:1", 4, [2, 3])]


def test_events_after_a_release_flow_again(noted: ThingsNoted) -> None:
    append([new_event("thing:1", 1)])
    sequence_events()
    noted.interrupt = refuse(("thing:1", 1))  # type: ignore[assignment]
    run_until_quiet(noted)
    noted.interrupt = None
    release_subject(noted, "thing:1")
    append([new_event("thing:1", 2)])
    sequence_events()

    assert run_until_quiet(noted) == [BatchOutcome.ADVANCED]
    assert noted.list_noted() == [("thing:1", 1), ("thing:1", 2)]


def test_error_is_kept_readable_whatever_it_says(noted: ThingsNoted) -> None:
    append([new_event("thing:1", 1)])
    sequence_events()

    def shout(_batch: Batch) -> None:
        raise ValueError("\x00" + "x" * 5000)

    noted.interrupt = shout
    run_until_quiet(noted)

    assert ParkedSubject.objects.get().error == "ValueError: \N{REPLACEMENT CHARACTER}" + "x" * 1987
