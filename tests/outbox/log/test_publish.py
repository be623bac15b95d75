"""Publishing: events enter the log in the transaction of the change, in the order given, or not at all."""

from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, transaction
from django.db.transaction import TransactionManagementError

from outbox.log.publish import Actor, NewEvent, publish
from outbox.models import Event
from outbox.models.log import ActorType
from tests.outbox.things import append, new_event

pytestmark = pytest.mark.django_db(transaction=True)


def test_publish_needs_the_transaction_of_the_change() -> None:
    with pytest.raises(TransactionManagementError, match="the state and its event commit together"):
        publish([new_event()])

    assert not Event.objects.exists()


def test_events_are_stored_in_the_order_given_and_their_ids_returned() -> None:
    events = [new_event(f"thing:{number}") for number in (3, 1, 2)]

    ids = append(events)

    assert ids == [event.event_id for event in events]
    assert list(Event.objects.order_by("seq").values_list("subject", flat=True)) == [
        "thing:3",
        "thing:1",
        "thing:2",
    ]


def test_publishing_nothing_asks_the_database_for_nothing(django_assert_num_queries: object) -> None:
    with transaction.atomic(), django_assert_num_queries(0):  # type: ignore[operator]
        assert publish([]) == []


def test_many_events_are_stored_by_one_statement(django_assert_num_queries: object) -> None:
    events = [new_event(version=version) for version in range(1, 301)]

    with transaction.atomic(), django_assert_num_queries(1):  # type: ignore[operator]
        publish(events)

    assert Event.objects.count() == 300


def test_payload_may_hold_the_values_a_domain_has() -> None:
    append(
        [
            NewEvent(
                kind="ThingNoted",
                subject="thing:1",
                subject_version=1,
                actor=Actor(ActorType.WORKER),
                payload={
                    "decimal": Decimal("5.50"),
                    "id": UUID(int=7),
                    "at": datetime(2026, 11, 29, 18, 0, tzinfo=UTC),
                    "on": date(2026, 11, 29),
                    "text": "\u2028 \U0001f600 '\"\\ %s {}",
                },
            )
        ]
    )

    assert Event.objects.get().payload == {
        "decimal": "5.50",
        "id": str(UUID(int=7)),
        "at": "2026-11-29T18:00:00Z",
        "on": "2026-11-29",
        "text": "\u2028 \U0001f600 '\"\\ %s {}",
    }


def test_person_without_a_name_is_refused() -> None:
    nameless = NewEvent(
        kind="ThingNoted", subject="thing:1", subject_version=1, actor=Actor(ActorType.PERSON), payload={}
    )

    with pytest.raises(IntegrityError, match="a_person_is_named"):
        append([nameless])


def test_event_is_refused_a_second_time_under_its_id() -> None:
    event_id = uuid4()

    def event(subject: str) -> NewEvent:
        return NewEvent(
            kind="ThingNoted",
            subject=subject,
            subject_version=1,
            actor=Actor(ActorType.POLICY),
            payload={},
            event_id=event_id,
        )

    append([event("thing:1")])
    with pytest.raises(IntegrityError, match="event_id"):
        append([event("thing:2")])
