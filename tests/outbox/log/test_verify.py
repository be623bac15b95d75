"""S10. Verifying the log: every kind of tampering is found, and the first event it touched is named."""

import hashlib

import pytest
from django.db import connection

from outbox.log.sequencer import sequence_events, start_epoch
from outbox.log.verify import Verdict, verify_log
from outbox.models import EventPosition, Tick
from tests.outbox.things import append_things

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def ignore(_done: int, _total: int) -> None:
    """Report to nobody."""


def tamper(*statements: str) -> None:
    """Change the log as its owner could: the triggers are put aside and put back."""
    tables = ("outbox_event", "outbox_eventposition", "outbox_tick")
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        for statement in statements:
            cursor.execute(statement)
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


@pytest.fixture
def log() -> list[str]:
    """Nine events in three ticks of three; the ids of the events."""
    ids = []
    for number in range(3):
        ids += append_things(3, subject=f"thing:{number + 1}")
        sequence_events()
    return [str(each) for each in ids]


def find_fault() -> str | None:
    fault = verify_log(report=ignore).fault
    return fault.description if fault else None


def test_sound_log_is_called_sound_with_the_digest_of_its_last_tick(log: list[str]) -> None:
    reports: list[tuple[int, int]] = []

    verdict = verify_log(report=lambda done, total: reports.append((done, total)))

    assert verdict == Verdict(
        ticks=3, positions=9, last_tick=3, digest=bytes(Tick.objects.get(tick_id=3).digest)
    )
    assert reports == [(9, 9)]


def test_empty_log_is_sound() -> None:
    assert verify_log(report=ignore) == Verdict(ticks=0, positions=0, last_tick=0)


def test_log_with_a_new_epoch_is_sound(log: list[str]) -> None:
    start_epoch()
    append_things(1, subject="thing:4")
    start_epoch()

    verdict = verify_log(report=ignore)

    assert (verdict.ticks, verdict.positions, verdict.fault) == (5, 10, None)


@pytest.mark.parametrize(
    "change",
    [
        "payload = payload || '{\"value\": 9}'",
        "kind = 'ThingFound'",
        "subject_version = 99",
        "actor_id = gen_random_uuid()",
        "actor_type = 'worker'",
        "tenant_id = gen_random_uuid()",
        "schema_version = 2",
        "batch_id = gen_random_uuid()",
        "cause_id = gen_random_uuid()",
        "correlation_id = gen_random_uuid()",
        "occurred_at = occurred_at + interval '1 microsecond'",
        "xid = '3'",
        "subject = 'thing:7'",
    ],
)
def test_altered_event_is_named(change: str, log: list[str]) -> None:
    tamper(f"UPDATE outbox_event SET {change} WHERE event_id = '{log[4]}'")

    verdict = verify_log(report=ignore)

    assert verdict.fault is not None
    assert verdict.fault.pos == 5
    assert verdict.fault.description.startswith(
        f"event altered at position 5: {'ThingFound' if 'kind' in change else 'ThingNoted'} {log[4]} of thing:"
    )
    assert verdict.positions == 0


def test_first_of_several_altered_events_is_named(log: list[str]) -> None:
    tamper(f"UPDATE outbox_event SET schema_version = 2 WHERE event_id IN ('{log[7]}', '{log[2]}')")

    assert find_fault() == f"event altered at position 3: ThingNoted {log[2]} of thing:1"


def test_removed_event_is_named_by_its_position(log: list[str]) -> None:
    seq = EventPosition.objects.get(pos=5).seq
    tamper(f"DELETE FROM outbox_event WHERE event_id = '{log[4]}'")

    assert find_fault() == f"event removed at position 5: sequence number {seq}"


def test_event_removed_with_its_position_is_named(log: list[str]) -> None:
    tamper(
        "DELETE FROM outbox_event WHERE seq = (SELECT seq FROM outbox_eventposition WHERE pos = 5)",
        "DELETE FROM outbox_eventposition WHERE pos = 5",
    )

    assert find_fault() == "position removed at position 5: no event"


def test_event_slipped_in_with_an_old_transaction_id_is_named(log: list[str]) -> None:
    tamper(
        "INSERT INTO outbox_event (event_id, xid, kind, subject, subject_version, actor_type, payload)"
        " VALUES (gen_random_uuid(), '3', 'ThingNoted', 'thing:8', 1, 'policy', '{}')"
    )

    found = find_fault()

    assert found is not None
    assert found.startswith("event slipped in, without a position: ThingNoted ")
    assert " of thing:8 " in found


def test_event_slipped_in_with_a_position_of_its_own_is_named(log: list[str]) -> None:
    tamper(
        "INSERT INTO outbox_event (event_id, xid, kind, subject, subject_version, actor_type, payload)"
        " VALUES (gen_random_uuid(), '3', 'ThingNoted', 'thing:8', 1, 'policy', '{}')",
        "INSERT INTO outbox_eventposition (pos, seq, digest)"
        " SELECT 10, seq, outbox_event_digest(event) FROM outbox_event AS event WHERE subject = 'thing:8'",
    )

    verdict = verify_log(report=ignore)

    assert verdict.fault is not None
    assert verdict.fault.description.startswith("position 10 was given by no tick")


def test_two_events_that_changed_places_are_found(log: list[str]) -> None:
    tamper(
        "UPDATE outbox_eventposition SET pos = 500 WHERE pos = 5",
        "UPDATE outbox_eventposition SET pos = 5 WHERE pos = 6",
        "UPDATE outbox_eventposition SET pos = 6 WHERE pos = 500",
    )

    assert (
        find_fault()
        == "tick 2 (positions 4 to 6) is false: its positions are not in the order of the sequence"
    )


def test_event_that_was_given_another_ones_position_is_named_with_its_own(log: list[str]) -> None:
    two, eight = (EventPosition.objects.get(pos=pos).seq for pos in (2, 8))
    tamper(
        "UPDATE outbox_eventposition SET seq = -1 WHERE pos = 2",
        f"UPDATE outbox_eventposition SET seq = {two} WHERE pos = 8",
        f"UPDATE outbox_eventposition SET seq = {eight} WHERE pos = 2",
    )

    assert find_fault() == f"event of position 8 stands at position 2: ThingNoted {log[7]} of thing:3"


def test_event_altered_together_with_its_digest_is_caught_by_its_tick(log: list[str]) -> None:
    tamper(
        f"UPDATE outbox_event SET schema_version = 2 WHERE event_id = '{log[4]}'",
        "UPDATE outbox_eventposition SET digest = outbox_event_digest(event) FROM outbox_event AS event"
        " WHERE event.seq = outbox_eventposition.seq AND pos = 5",
    )

    assert find_fault() == "tick 2 (positions 4 to 6) is false: its digest does not seal its events"


def test_tick_rewritten_to_fit_is_caught_by_the_next_one(log: list[str]) -> None:
    tamper(
        f"UPDATE outbox_event SET schema_version = 2 WHERE event_id = '{log[4]}'",
        "UPDATE outbox_eventposition SET digest = outbox_event_digest(event) FROM outbox_event AS event"
        " WHERE event.seq = outbox_eventposition.seq AND pos = 5",
    )
    before = bytes(Tick.objects.get(tick_id=1).digest)
    digests = b"".join(
        bytes(each.digest) for each in EventPosition.objects.filter(pos__range=(4, 6)).order_by("pos")
    )
    tamper(
        f"UPDATE outbox_tick SET digest = '\\x{hashlib.sha256(before + digests).hexdigest()}' WHERE tick_id = 2"
    )

    assert find_fault() == "tick 3 (positions 7 to 9) is false: its digest does not seal its events"


def test_removed_tick_is_missed_by_the_next_one(log: list[str]) -> None:
    tamper("DELETE FROM outbox_tick WHERE tick_id = 2")

    assert find_fault() == "tick 3 (positions 7 to 9) is false: the tick before it was removed"


def test_last_tick_removed_leaves_positions_that_nobody_gave(log: list[str]) -> None:
    tamper("DELETE FROM outbox_tick WHERE tick_id = 3")

    seq = EventPosition.objects.get(pos=7).seq
    assert find_fault() == f"position 7 was given by no tick (sequence number {seq})"


def test_verification_from_a_tick_believes_what_stands_before_it(log: list[str]) -> None:
    tamper(f"UPDATE outbox_event SET schema_version = 2 WHERE event_id = '{log[0]}'")

    verdict = verify_log(report=ignore, from_tick=2)

    assert (verdict.ticks, verdict.positions, verdict.last_tick, verdict.fault) == (2, 6, 3, None)


def test_log_is_verified_in_chunks_with_the_same_verdict(
    log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outbox.log.verify.POSITIONS_AT_ONCE", 1)
    reports: list[tuple[int, int]] = []

    verdict = verify_log(report=lambda done, total: reports.append((done, total)))

    assert (verdict.ticks, verdict.positions, verdict.fault) == (3, 9, None)
    assert reports == [(3, 9), (6, 9), (9, 9)]
