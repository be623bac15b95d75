"""Effects in the relay's own process: once per event, in spite of failures, second deliveries and lost tries."""

from datetime import timedelta
from itertools import permutations
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection
from django.db.models import F
from django.db.models.functions import Now

from outbox.consumers.batches import run_batch
from outbox.effects import Delivery, GiveUp, TryLater, find_effect
from outbox.effects.failures import list_failed_effects, replay_effects
from outbox.effects.receipts import Message, claim_due_effects, claim_lost_effect
from outbox.effects.relay import Relay
from outbox.effects.running import STRAY, run_claims, run_due_effects, run_message
from outbox.effects.status import EffectStatus, get_relay_status
from outbox.models import EffectReceipt, EffectState, Heartbeat
from tests.relay.effects import Make, cause, list_receipts, make_effect, relay_all
from tests.sessions import Background, Sessions, count_lock_waiters, sessions
from tests.waiting import wait_until

__all__ = ["make_effect", "sessions"]
pytestmark = pytest.mark.django_db(transaction=True)


def run_due(*names: str) -> int:
    effects = [find_effect(name) for name in names or ("tell",)]
    return run_due_effects([effect for effect in effects if effect])


def make_due() -> None:
    EffectReceipt.objects.exclude(state__in=["done", "failed"]).update(due_at=Now())


def beat(delivery: Delivery) -> None:
    """An effect of the database that shows how often it was kept."""
    Heartbeat.objects.create(incarnation=delivery.event.event_id, role="told", pid=delivery.tries, host="")


def test_relay_notes_an_effect_for_each_event_with_the_cursor_and_a_runner_does_it(make_effect: Make) -> None:
    tell = make_effect()
    ids = cause(3)
    relay_all()
    assert list_receipts() == [(each, "tell", "pending", 0) for each in ids]

    assert run_due() == 3
    assert tell.event_ids == ids
    assert list_receipts() == [(each, "tell", "done", 1) for each in ids]
    assert run_due() == 0


def test_relay_passes_over_events_from_which_nothing_follows() -> None:
    cause(3)
    relay_all()
    assert list_receipts() == []
    assert run_batch(Relay()).position == 3


def test_effects_of_the_database_happen_once_whatever_the_order_and_number_of_messages(
    make_effect: Make,
) -> None:
    make_effect("beat_first").interrupt = beat
    make_effect("tell")
    (event_id,) = cause()
    messages = [Message(event_id, name, "", 1) for name in ("beat_first", "tell")]
    for order in permutations([*messages, *messages]):
        for message in order:
            run_message(message)
    assert list(Heartbeat.objects.values_list("incarnation", "pid")) == [(event_id, 1)]
    assert list_receipts() == [(event_id, "beat_first", "done", 1), (event_id, "tell", "done", 1)]


def test_message_that_is_faster_than_the_relays_commit_is_done_and_the_relay_leaves_its_receipt_alone(
    make_effect: Make,
) -> None:
    tell = make_effect()
    (event_id,) = cause()
    assert run_message(Message(event_id, "tell", "", 1)) == EffectState.DONE
    relay_all()
    assert list_receipts() == [(event_id, "tell", "done", 1)]
    assert run_due() == 0
    assert tell.event_ids == [event_id]


def test_message_about_an_effect_in_other_hands_changes_nothing(make_effect: Make) -> None:
    tell = make_effect()
    (event_id,) = cause()
    relay_all()
    effect = find_effect("tell")
    assert effect
    claims = claim_due_effects([effect], at_most=5)
    assert run_message(Message(event_id, "tell", "", 1)) is None
    assert tell.done == []
    assert run_claims(claims) == {claims[0].id: EffectState.DONE}


@pytest.mark.parametrize("outside", [False, True])
def test_try_whose_lease_was_lost_writes_nothing(make_effect: Make, *, outside: bool) -> None:
    make_effect(outside=outside)
    cause()
    relay_all()
    effect = find_effect("tell")
    assert effect
    claims = claim_due_effects([effect], at_most=5)
    make_due()  # the lease ends
    assert run_due() == 1  # somebody else does it
    done = list(EffectReceipt.objects.values())
    assert run_claims(claims) == {}
    assert list(EffectReceipt.objects.values()) == done


def test_failed_effect_of_the_database_leaves_nothing_and_does_not_spoil_its_neighbours(
    make_effect: Make,
) -> None:
    tell = make_effect()
    ids = cause(3)
    relay_all()

    def fail_in_the_middle(delivery: Delivery) -> None:
        beat(delivery)
        if delivery.event.event_id == ids[1] and delivery.tries == 1:
            raise ValueError(delivery.event.kind)

    tell.interrupt = fail_in_the_middle
    assert run_due() == 3
    assert set(Heartbeat.objects.values_list("incarnation", flat=True)) == {ids[0], ids[2]}
    assert [state for *_, state, _ in list_receipts()] == ["done", "pending", "done"]
    assert EffectReceipt.objects.get(state="pending").error == "ValueError: SomethingCaused"

    assert run_due() == 0, "its next try is not due"
    make_due()
    assert run_due() == 1
    assert Heartbeat.objects.count() == 3


def test_constraint_checked_at_commit_fails_its_own_effect_only(make_effect: Make) -> None:
    tell = make_effect()
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE told (event uuid UNIQUE DEFERRABLE INITIALLY DEFERRED)")

    def tell_twice(delivery: Delivery) -> None:
        with connection.cursor() as cursor:
            for _ in range(2 if delivery.event.pos == 2 else 1):
                cursor.execute("INSERT INTO told VALUES (%s)", [delivery.event.event_id])

    tell.interrupt = tell_twice
    try:
        cause(3)
        relay_all()
        run_due()
        assert [state for *_, state, _ in list_receipts()] == ["done", "pending", "done"]
        assert EffectReceipt.objects.get(pos=2).error.startswith(IntegrityError.__name__)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE told")


@pytest.mark.parametrize("outside", [False, True])
def test_effect_fails_for_good_after_its_last_try_and_tells_its_app_once(
    make_effect: Make, *, outside: bool
) -> None:
    failed: list[tuple[int, str]] = []
    tell = make_effect(
        outside=outside,
        retries=(1.0, 1.0),
        failed=lambda delivery, error: failed.append((delivery.tries, error)),
    )
    tell.errors = [ValueError("one"), TryLater("two"), ValueError("three\0 \ud800")]
    (event_id,) = cause()
    relay_all()
    for _ in range(4):
        run_due()
        make_due()
    assert list_receipts() == [(event_id, "tell", "failed", 3)]
    assert [tries for tries, _ in failed] == [3]
    assert EffectReceipt.objects.get().error == "ValueError: three\N{REPLACEMENT CHARACTER} ?"


def test_effect_that_is_given_up_is_not_tried_again_until_a_person_says_so(make_effect: Make) -> None:
    tell = make_effect()
    tell.errors = [GiveUp("No such address.")]
    (event_id,) = cause()
    relay_all()
    run_due()
    make_due()
    assert run_due() == 0
    (failed,) = list_failed_effects()
    assert (failed.event_id, failed.error) == (event_id, "No such address.")

    assert replay_effects(ids=[failed.pk]) == 1
    assert run_due() == 1
    assert list_receipts() == [(event_id, "tell", "done", 1)]
    assert replay_effects(ids=[failed.pk]) == 0


def test_other_ends_wish_to_wait_is_respected(make_effect: Make) -> None:
    make_effect().errors = [TryLater("Busy.", seconds=500)]
    cause()
    relay_all()
    run_due()
    soon, late = timedelta(seconds=490), timedelta(seconds=510)
    assert EffectReceipt.objects.filter(due_at__gt=Now() + soon, due_at__lt=Now() + late).count() == 1


def test_try_lost_with_its_process_is_taken_alone_so_that_its_neighbours_lose_none(make_effect: Make) -> None:
    make_effect(lease_seconds=30.0)
    cause(4)
    relay_all()
    effect = find_effect("tell")
    assert effect
    claim_due_effects([effect], at_most=2)  # and the process dies
    assert run_due() == 2
    EffectReceipt.objects.filter(state="trying").update(due_at=Now() - timedelta(seconds=1))
    assert [run_due(), run_due(), run_due()] == [1, 1, 0]
    assert [tries for *_, tries in list_receipts()] == [2, 2, 1, 1]


@pytest.mark.parametrize("outside", [False, True])
def test_effect_that_kills_its_process_fails_for_good_after_its_last_try_without_being_begun_again(
    make_effect: Make, *, outside: bool
) -> None:
    """A process that dies notes nothing, so what is left of its tries is that they were counted when taken."""
    told: list[tuple[int, str]] = []
    tell = make_effect(
        outside=outside,
        retries=(1.0, 1.0),
        failed=lambda delivery, error: told.append((delivery.tries, error)),
    )
    (event_id,) = cause()
    relay_all()
    effect = find_effect("tell")
    assert effect
    tries = [claim.tries for claim in claim_due_effects([effect], at_most=5)]  # and the process dies
    for _ in range(2):
        make_due()
        tries += [claim.tries for claim in claim_lost_effect([effect])]  # and that one too
    assert tries == [1, 2, 3]
    make_due()

    assert run_due() == 1
    words = "Nobody noted how try 3, the last one, ended: its process died, or took longer than its lease."
    assert list_receipts() == [(event_id, "tell", "failed", 4)]
    assert EffectReceipt.objects.get().error == words
    assert (tell.done, told) == ([], [(4, words)])


def test_effect_that_kills_its_process_costs_its_neighbours_in_a_message_nothing(make_effect: Make) -> None:
    tell = make_effect(retries=())
    ids = cause(2)
    relay_all()
    EffectReceipt.objects.filter(pos=1).update(tries=1)
    assert [run_message(Message(each, "tell", "", pos)) for pos, each in enumerate(ids, start=1)] == [
        EffectState.FAILED,
        EffectState.DONE,
    ]
    assert tell.event_ids == [ids[1]]


def test_message_about_an_event_of_another_log_fails_for_good_after_its_tries(make_effect: Make) -> None:
    """A broker that outlived a restore has such messages, and would send them for ever."""
    tell = make_effect(retries=(1.0,))
    cause()
    stray = Message(uuid4(), "tell", "", 77)
    ended = []
    for _ in range(3):
        ended.append(run_message(stray))
        make_due()

    assert ended == [None, None, EffectState.FAILED]
    receipt = EffectReceipt.objects.get(event_id=stray.event_id)
    assert (receipt.state, receipt.tries, receipt.error) == ("failed", 3, STRAY)
    assert (run_message(stray), tell.done) == (None, [])


def test_target_that_is_being_served_keeps_only_its_own_effects_waiting(make_effect: Make) -> None:
    make_effect(outside=True, list_targets=lambda hints: [(hint, name) for hint in hints for name in "ab"])
    cause(2)
    relay_all()
    effect = find_effect("tell")
    assert effect
    taken = []
    while claims := claim_due_effects([effect], at_most=1):
        taken += [(claim.pos, claim.target) for claim in claims]
    assert sorted(taken) == [(1, "a"), (1, "b")]


def test_status_says_what_is_open_by_effect_and_how_old_it_is(make_effect: Make) -> None:
    make_effect("fail").errors = [GiveUp("No.")]
    make_effect("tell")
    cause()
    relay_all()
    run_due("fail")
    EffectReceipt.objects.update(created_at=F("created_at") - timedelta(hours=1))
    status = get_relay_status()
    assert [(each.name, each.pending, each.trying, each.failed) for each in status.effects] == [
        ("fail", 0, 0, 1),
        ("tell", 1, 0, 0),
    ]
    assert status.effects[0] == EffectStatus("fail", 0, 0, 1, 0, timedelta(0))
    assert status.effects[1].oldest >= timedelta(hours=1)
    assert (status.failed, status.age, status.is_stale) == (1, timedelta(0), False)


def test_status_shows_the_age_of_what_the_relay_has_not_handed_on(make_effect: Make) -> None:
    make_effect()
    cause()
    assert get_relay_status().age > timedelta(0)
    relay_all()
    assert get_relay_status().age == timedelta(0)


def test_event_ids_are_what_the_other_end_gets_as_key(make_effect: Make) -> None:
    tell = make_effect(list_targets=lambda hints: [(hint, "one") for hint in hints])
    (event_id,) = cause()
    relay_all()
    run_due()
    assert [delivery.key for delivery in tell.done] == [f"{event_id}.one"]
    assert isinstance(event_id, UUID)


def test_message_that_arrives_before_the_sweepers_commit_waits_for_it_and_is_not_spent(
    make_effect: Make, sessions: Sessions
) -> None:
    """The sweeper commits after the broker has confirmed, and a worker may have the message by then."""
    tell = make_effect()
    (event_id,) = cause()
    relay_all()
    sweeper, looker = sessions.open(), sessions.open()
    sweeper.run("SELECT id FROM outbox_effectreceipt FOR UPDATE")

    worker = Background(lambda: run_message(Message(event_id, "tell", "", 1)))
    wait_until(lambda: count_lock_waiters(looker) == 1)
    sweeper.commit()
    assert worker.result() == EffectState.DONE
    assert tell.event_ids == [event_id]
