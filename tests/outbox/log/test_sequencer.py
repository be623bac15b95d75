"""The sequencer on its own: positions are dense and final, a quiet log is left alone, digests are what they say they are."""

import hashlib
import json

import pytest
from django.db import connection, transaction
from django.db.transaction import TransactionManagementError

from outbox.errors import LogOfAnotherCluster
from outbox.log.publish import publish
from outbox.log.sequencer import (
    Pass,
    PassOutcome,
    begin_pass,
    get_last_tick,
    number_events,
    sequence_events,
    start_epoch,
)
from outbox.models import Event, EventPosition, Tick
from tests.outbox.things import append, append_things, new_event
from tests.sessions import Sessions, sessions

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
__all__ = ["sessions"]


def list_positions() -> list[tuple[int, str, int]]:
    """Return (position, subject, version) of everything numbered."""
    events = {event.seq: event for event in Event.objects.all()}
    return [
        (position.pos, events[position.seq].subject, events[position.seq].subject_version)
        for position in EventPosition.objects.order_by("pos")
    ]


def canonical_text(event: Event) -> str:
    """Write the text an event's digest is taken of, as outbox/migrations/0002 states it, without the database's help."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM occurred_at)::text, payload::text FROM outbox_event WHERE seq = %s",
            [event.seq],
        )
        occurred_at, payload = cursor.fetchone()
    ids = (event.batch_id, event.cause_id, event.correlation_id)
    columns = [
        event.seq,
        str(event.event_id),
        str(event.xid),
        event.tenant_id and str(event.tenant_id),
        *(event.kind, event.schema_version, event.subject, event.subject_version, event.actor_type),
        event.actor_id and str(event.actor_id),
        *(each and str(each) for each in ids),
        occurred_at,
    ]
    return f"{json.dumps(columns, ensure_ascii=False)[:-1]}, {payload}]"


def test_pass_numbers_all_events_in_order_of_sequence_from_one() -> None:
    append_things(2)
    append([new_event("thing:2"), new_event("thing:1", 3)])

    done = sequence_events()

    assert done == Pass(PassOutcome.NUMBERED, tick_id=1, first_pos=1, last_pos=4)
    assert list_positions() == [(1, "thing:1", 1), (2, "thing:1", 2), (3, "thing:2", 1), (4, "thing:1", 3)]


def test_pass_continues_where_the_last_tick_ended() -> None:
    append_things(2)
    sequence_events()
    append_things(1, first=3)

    done = sequence_events()

    assert done == Pass(PassOutcome.NUMBERED, tick_id=2, first_pos=3, last_pos=3)
    assert [(tick.first_pos, tick.last_pos) for tick in Tick.objects.order_by("tick_id")] == [(1, 2), (3, 3)]


def test_pass_writes_nothing_and_takes_no_transaction_id_when_nothing_is_new(sessions: Sessions) -> None:
    append_things(1)
    sequence_events()
    session = sessions.open()

    begin_pass(session.cursor)
    done = number_events(session.cursor, get_last_tick(session.cursor))

    assert done == Pass(PassOutcome.NOTHING_NEW)
    assert session.run("SELECT pg_current_xact_id_if_assigned()") is None
    assert Tick.objects.count() == 1


def test_pass_leaves_the_work_to_another_one_that_is_under_way(sessions: Sessions) -> None:
    append_things(1)
    other = sessions.open()
    assert begin_pass(other.cursor)

    assert sequence_events() == Pass(PassOutcome.BUSY)

    other.rollback()
    assert sequence_events().count == 1


def test_pass_refuses_to_run_inside_a_transaction() -> None:
    with transaction.atomic(), pytest.raises(TransactionManagementError, match="its own snapshot"):
        sequence_events()


def test_position_digest_is_the_sha256_of_the_stated_text() -> None:
    append([new_event("thing:ü", note='quote " and \\ and \u2028', number=1.50, nothing=None)])
    sequence_events()

    event = Event.objects.get()
    text = canonical_text(event)

    assert bytes(EventPosition.objects.get().digest) == hashlib.sha256(text.encode()).digest()


@pytest.mark.parametrize(
    "setting",
    [
        "TimeZone = 'Pacific/Chatham'",
        "DateStyle = 'German, DMY'",
        "extra_float_digits = -15",
        "IntervalStyle = 'iso_8601'",
    ],
)
def test_event_digest_does_not_depend_on_the_session(setting: str, sessions: Sessions) -> None:
    append([new_event(half=0.5)])
    sequence_events()
    session = sessions.open()
    session.run(f"SET {setting}")

    digest = session.run("SELECT outbox_event_digest(event) FROM outbox_event AS event")

    assert digest == bytes(EventPosition.objects.get().digest)


def test_tick_digest_chains_the_tick_before_it_and_the_positions_in_order() -> None:
    append_things(2)
    sequence_events()
    append_things(3, first=3)
    sequence_events()

    digests = [bytes(position.digest) for position in EventPosition.objects.order_by("pos")]
    first = hashlib.sha256(b"".join(digests[:2])).digest()
    second = hashlib.sha256(first + b"".join(digests[2:])).digest()
    assert [bytes(tick.digest) for tick in Tick.objects.order_by("tick_id")] == [first, second]


def test_pass_numbers_an_event_from_the_end_of_time() -> None:
    append([new_event()])
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO outbox_event (event_id, kind, subject, subject_version, actor_type, payload, occurred_at)"
            " VALUES (gen_random_uuid(), 'ThingNoted', 'thing:2', 1, 'policy', '{}', 'infinity')"
        )

    assert sequence_events().count == 2


def test_epoch_begins_with_everything_numbered_whatever_transaction_ids_it_carries() -> None:
    append_things(2)
    sequence_events()
    append_things(1, first=3)
    _move_to_another_cluster()

    begun = start_epoch()

    assert begun == Pass(PassOutcome.NUMBERED, tick_id=2, first_pos=3, last_pos=3)
    assert Tick.objects.get(tick_id=2).epoch == 1


def test_epoch_goes_on_with_new_events_only_when_the_old_ones_come_from_a_cluster_far_ahead() -> None:
    append_things(2)
    sequence_events()
    _move_to_another_cluster()
    start_epoch()
    append_things(2, first=3)

    assert [sequence_events().outcome for _ in range(2)] == [PassOutcome.NUMBERED, PassOutcome.NOTHING_NEW]
    assert list_positions() == [(version, "thing:1", version) for version in (1, 2, 3, 4)]
    assert Tick.objects.order_by("-tick_id").first().epoch == 1  # type: ignore[union-attr]


def test_log_of_another_server_is_refused_until_an_epoch_begins() -> None:
    append_things(2)
    sequence_events()
    _pretend_last_tick_is_of_a_server_far_ahead()
    append_things(1, first=3)

    with pytest.raises(LogOfAnotherCluster, match="--start-epoch"):
        sequence_events()

    assert EventPosition.objects.count() == 2
    start_epoch()
    append_things(1, first=4)
    assert sequence_events() == Pass(PassOutcome.NUMBERED, tick_id=3, first_pos=4, last_pos=4)


def test_epoch_may_begin_on_an_empty_log() -> None:
    assert start_epoch() == Pass(PassOutcome.NUMBERED, tick_id=1, first_pos=1, last_pos=0)
    append_things(1)
    assert sequence_events() == Pass(PassOutcome.NUMBERED, tick_id=2, first_pos=1, last_pos=1)


def test_events_published_in_a_rolled_back_transaction_are_never_numbered() -> None:
    with transaction.atomic():
        publish([new_event()])
        transaction.set_rollback(True)

    assert sequence_events() == Pass(PassOutcome.NOTHING_NEW)


def _move_to_another_cluster() -> None:
    """Give every event the transaction id of a cluster that is a billion transactions ahead of this one."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE outbox_event DISABLE TRIGGER USER")
        cursor.execute("UPDATE outbox_event SET xid = (xid::text::bigint + 1000000000)::text::xid8")
        cursor.execute("ALTER TABLE outbox_event ENABLE TRIGGER USER")


def _pretend_last_tick_is_of_a_server_far_ahead() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE outbox_tick DISABLE TRIGGER USER")
        cursor.execute(
            "UPDATE outbox_tick SET snapshot_xmax = (snapshot_xmax::text::bigint + 1000000000)::text::xid8"
        )
        cursor.execute("ALTER TABLE outbox_tick ENABLE TRIGGER USER")
