"""The log in the admin: operators read it, nobody writes it, nobody else sees it."""

import pytest
from django.test import Client
from django.urls import reverse

from outbox.consumers.batches import BatchOutcome, run_batch
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer, Event, ParkedSubject, Tick
from outbox.processes import Heart
from tests import factories
from tests.outbox.consumers.noted import ThingsNoted, noted
from tests.outbox.things import append, new_event

__all__ = ["noted"]
pytestmark = pytest.mark.django_db(transaction=True)
MODELS = ["event", "tick", "consumer", "parkedsubject", "heartbeat"]


@pytest.fixture
def log(noted: ThingsNoted) -> dict[str, object]:
    """One row of each table; the key of each by its model's name."""
    append([new_event("thing:<script>", note="poison")])
    sequence_events()
    while run_batch(noted).outcome is not BatchOutcome.NOTHING_NEW:
        pass
    heart = Heart("sequencer")
    heart.beat()
    return {
        "event": Event.objects.get().pk,
        "tick": Tick.objects.get().pk,
        "consumer": Consumer.objects.get().pk,
        "parkedsubject": ParkedSubject.objects.get().pk,
        "heartbeat": heart.incarnation,
    }


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(factories.admin())
    return client


@pytest.mark.parametrize("model", MODELS)
def test_operator_reads_list_and_row(model: str, log: dict[str, object], operator: Client) -> None:
    listed = operator.get(reverse(f"admin:outbox_{model}_changelist"))
    shown = operator.get(reverse(f"admin:outbox_{model}_change", args=[log[model]]))

    assert (listed.status_code, shown.status_code) == (200, 200)
    assert b"<script>alert" not in listed.content
    assert "thing:<script>" not in listed.text + shown.text


@pytest.mark.parametrize("model", MODELS)
def test_nobody_adds_changes_or_deletes_a_row(model: str, log: dict[str, object], operator: Client) -> None:
    codes = [
        operator.post(reverse(f"admin:outbox_{model}_add"), {}).status_code,
        operator.post(reverse(f"admin:outbox_{model}_change", args=[log[model]]), {}).status_code,
        operator.post(
            reverse(f"admin:outbox_{model}_delete", args=[log[model]]), {"post": "yes"}
        ).status_code,
    ]

    assert codes == [403, 403, 403]


@pytest.mark.parametrize("model", MODELS)
def test_staff_who_are_no_operators_do_not_see_the_log(
    model: str, log: dict[str, object], client: Client
) -> None:
    client.force_login(factories.teacher(is_staff=True))

    assert client.get(reverse(f"admin:outbox_{model}_changelist")).status_code == 403
    assert "outbox" not in client.get(reverse("admin:index")).text


def test_events_are_found_by_their_subject(log: dict[str, object], operator: Client) -> None:
    append([new_event("thing:2")])

    found = operator.get(reverse("admin:outbox_event_changelist"), {"q": "thing:2"})

    assert found.text.count("thing:2") >= 1
    assert "thing:&lt;script&gt;" not in found.text


@pytest.mark.parametrize("count", [1, 3])
def test_list_of_parked_subjects_takes_the_same_queries_for_one_and_three(
    count: int, noted: ThingsNoted, operator: Client, django_assert_num_queries: object
) -> None:
    append(new_event(f"thing:{number}", note="poison") for number in range(count))
    sequence_events()
    while run_batch(noted).outcome is not BatchOutcome.NOTHING_NEW:
        pass

    with django_assert_num_queries(5):  # type: ignore[operator]
        page = operator.get(reverse("admin:outbox_parkedsubject_changelist"))

    assert page.text.count("new row for relation") == count
