"""Several statements in one round trip: each gives its own rows, and none runs after one that failed."""

from uuid import uuid4

import pytest
from django.db import DatabaseError, transaction

from outbox.db import run_together
from outbox.log.publish import APPEND_EVENTS, Actor, NewEvent, events_to_append
from outbox.models.log import ActorType, Event

HEAD, LAG = ("outbox", "get_head"), ("outbox", "get_sequencer_lag")


def _an_event(version: int = 1) -> NewEvent:
    return NewEvent("Noted", "note:1", version, Actor(ActorType.PERSON, uuid4()), {"says": "it's 100 %"})


@pytest.mark.django_db
def test_each_statement_gives_its_own_rows() -> None:
    with transaction.atomic():
        nothing, _, (waiting,) = run_together([HEAD, APPEND_EVENTS, LAG], events_to_append([_an_event()]))
    assert nothing == []
    assert waiting[0] > 0  # seconds: it sees what the statement before it wrote
    assert Event.objects.get().payload == {"says": "it's 100 %"}


@pytest.mark.django_db
def test_nothing_is_left_of_those_before_one_that_fails() -> None:
    twice = events_to_append([_an_event()])
    with pytest.raises(DatabaseError), transaction.atomic():
        run_together([APPEND_EVENTS, APPEND_EVENTS], twice)
    assert not Event.objects.exists()
