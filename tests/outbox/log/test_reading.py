"""Reading the log by position."""

from uuid import uuid4

import pytest

from outbox.errors import CursorAheadOfLog, CursorOfAnotherEpoch
from outbox.log.publish import Actor, NewEvent
from outbox.log.reading import LogEntry, Position, find_entry, get_head, list_events_at, read_events
from outbox.log.sequencer import sequence_events
from outbox.models import Tick
from outbox.models.log import ActorType
from tests.outbox.things import append, append_things, new_event

pytestmark = pytest.mark.django_db(transaction=True)


def test_head_of_an_empty_log_is_position_zero() -> None:
    assert get_head() == Position(epoch=0, shard=0, pos=0)
    assert read_events(Position(), 10) == []


def test_event_is_read_as_it_was_published() -> None:
    actor, batch, cause, correlation, tenant = (uuid4() for _ in range(5))
    published = NewEvent(
        kind="ThingNoted",
        subject="thing:1",
        subject_version=7,
        actor=Actor(ActorType.PERSON, actor),
        payload={"old": None, "new": {"value": "5.50", "text": "ü \u2028 \U0001f600"}},
        tenant_id=tenant,
        schema_version=3,
        batch_id=batch,
        cause_id=cause,
        correlation_id=correlation,
    )
    append([published])
    sequence_events()

    (event,) = read_events(Position(), 10)

    assert (event.pos, event.event_id, event.kind, event.schema_version) == (
        1,
        published.event_id,
        "ThingNoted",
        3,
    )
    assert (event.subject, event.subject_version, event.tenant_id) == ("thing:1", 7, tenant)
    assert (event.actor_type, event.actor_id) == ("person", actor)
    assert (event.batch_id, event.cause_id, event.correlation_id) == (batch, cause, correlation)
    assert event.payload == published.payload
    assert event.occurred_at.tzinfo is not None


def test_events_are_read_after_a_position_up_to_a_limit() -> None:
    append_things(5)
    sequence_events()

    assert [event.pos for event in read_events(Position(pos=1), 3)] == [2, 3, 4]
    assert [event.pos for event in read_events(Position(pos=4), 3)] == [5]
    assert read_events(Position(pos=5), 3) == []


def test_events_are_read_at_given_positions_in_order() -> None:
    append_things(5)
    sequence_events()

    assert [event.pos for event in list_events_at([4, 2])] == [2, 4]


def test_reading_refuses_a_position_of_another_epoch() -> None:
    with pytest.raises(CursorOfAnotherEpoch, match=r"The cursor is 1\.0\.0, but the log is in epoch 0"):
        read_events(Position(epoch=1), 10)


def test_reading_refuses_a_position_past_the_end() -> None:
    append_things(1)
    sequence_events()

    with pytest.raises(CursorAheadOfLog, match=r"The cursor is 0\.0\.2, but the log ends at 0\.0\.1"):
        read_events(Position(pos=2), 10)


def test_entry_names_the_position_and_the_tick_that_sealed_it() -> None:
    append_things(2)
    sequence_events()
    (event_id,) = append([new_event("thing:2")])
    assert find_entry(event_id) is None
    sequence_events()

    entry = find_entry(event_id)

    assert entry == LogEntry(
        Position(0, 0, 3), tick_id=2, tick_digest=bytes(Tick.objects.get(tick_id=2).digest)
    )
