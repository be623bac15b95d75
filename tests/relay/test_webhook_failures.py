"""An endpoint that does not answer rests, longer each time, and is switched off; its deliveries end where nobody would take them."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db.models import F
from django.db.models.functions import Now
from django.test import Client

from gradebook.models import User
from outbox.effects.failures import list_failed_effects, name_targets
from outbox.effects.registry import NotNow
from outbox.models import EffectReceipt, WebhookEndpoint, WebhookTry
from outbox.webhooks.resting import TRIAL, decide_rest, take_turn
from tests.receiver import Receiver, receiver
from tests.relay.effects import cause, list_receipts, relay_all
from tests.relay.webhooks import deliver_due, loopback_allowed, make_due, make_endpoint

__all__ = ["loopback_allowed", "receiver"]
pytestmark = pytest.mark.django_db(transaction=True)


def list_tries() -> list[tuple[str, int | None]]:
    """Return the delivery log in its order: which of two endpoints, and what it answered."""
    log = WebhookTry.objects.order_by("pk").values_list("endpoint__url", "status")
    return [(url.rpartition("/")[2], status) for url, status in log]


def make_pending_due() -> None:
    """Let the waits of deliveries be over, while endpoints go on resting."""
    EffectReceipt.objects.filter(state="pending").update(due_at=Now())


def test_failing_endpoint_is_left_alone_and_costs_nobody_else_a_delivery(receiver: Receiver) -> None:
    failing, healthy = make_endpoint(f"{receiver.url}/failing"), make_endpoint(f"{receiver.url}/healthy")
    receiver.answers = [(503, {}), (200, {})]
    ids = cause(3)
    relay_all()
    EffectReceipt.objects.filter(target=str(failing.pk)).update(due_at=Now() - timedelta(hours=1))
    deliver_due()
    assert [path for path, _ in list_tries()] == ["failing", *["healthy"] * 3]
    waiting = EffectReceipt.objects.filter(target=str(failing.pk), due_at__gt=Now(), state="pending")
    assert sorted(waiting.values_list("tries", flat=True)) == [0, 0, 1], "what was not tried keeps its tries"
    assert not EffectReceipt.objects.filter(target=str(healthy.pk)).exclude(state="done").exists()

    make_pending_due()
    deliver_due()
    assert len(list_tries()) == 4, "it still rests"

    make_due()
    deliver_due()
    assert [path for path, status in list_tries() if status == 200] == [*["healthy"] * 3, *["failing"] * 3]
    failing.refresh_from_db()
    assert (failing.failures_in_a_row, failing.rests_until) == (0, None)
    assert {headers["webhook-id"] for headers, _ in receiver.received} == {str(each) for each in ids}


def test_one_delivery_at_a_time_finds_out_whether_an_endpoint_answers_again() -> None:
    endpoint = make_endpoint("https://hooks.test/", failures_in_a_row=1, rests_until=Now())
    endpoint.refresh_from_db()
    take_turn(endpoint)
    with pytest.raises(NotNow) as put_off:
        take_turn(endpoint)
    assert 1 <= put_off.value.seconds <= TRIAL.total_seconds()
    take_turn(make_endpoint("https://other.test/"))


@pytest.mark.parametrize(
    ("failures", "retry_after", "seconds"),
    [(1, None, 5), (2, None, 10), (7, None, 320), (8, None, 600), (30_000, None, 600), (1, 3600.0, 3600), (9, 1.0, 600)],
)  # fmt: skip
def test_endpoint_rests_longer_with_every_failure_and_as_long_as_it_asks_for(
    failures: int, retry_after: float | None, seconds: float
) -> None:
    assert decide_rest(failures, retry_after) == timedelta(seconds=seconds)


def test_endpoint_that_fails_for_a_day_is_switched_off_and_its_waiting_deliveries_end(
    receiver: Receiver,
) -> None:
    endpoint = make_endpoint(receiver.url, failures_in_a_row=19)
    healthy = make_endpoint(receiver.url)
    receiver.answers = [(503, {})]
    cause(1)
    relay_all()
    deliver_due()
    endpoint.refresh_from_db()
    assert (endpoint.failures_in_a_row, endpoint.disabled_at) == (20, None), "not for a day yet"

    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(
        first_failure_at=F("first_failure_at") - timedelta(days=1)
    )
    make_due()
    deliver_due()
    endpoint.refresh_from_db()
    healthy.refresh_from_db()
    assert endpoint.disabled_at is not None
    assert endpoint.disabled_because == "The last try: It answered 503."
    assert healthy.disabled_at is None

    receiver.received.clear()
    EffectReceipt.objects.exclude(target=str(endpoint.pk)).delete()
    make_due()
    deliver_due()
    assert receiver.received == []
    assert [(state, tries) for *_, state, tries in list_receipts()] == [("failed", 3)]


def test_endpoint_that_is_gone_is_switched_off_at_once(receiver: Receiver) -> None:
    endpoint = make_endpoint(receiver.url)
    receiver.answers = [(410, {})]
    cause()
    relay_all()
    deliver_due()
    endpoint.refresh_from_db()
    assert endpoint.disabled_at is not None
    assert [state for *_, state, _ in list_receipts()] == ["failed"]


def test_failed_deliveries_are_listed_with_the_address_they_were_for(
    receiver: Receiver, client: Client, admin: User
) -> None:
    known, removed = make_endpoint(f"{receiver.url}/known"), make_endpoint(f"{receiver.url}/removed")
    receiver.answers = [(410, {})]
    cause()
    relay_all()
    deliver_due()
    gone = str(removed.pk)
    removed.delete()
    named = name_targets(list_failed_effects())
    assert {receipt.target: name for receipt, name in named} == {
        str(known.pk): known.url,
        gone: gone,
    }
    out = StringIO()
    call_command("effects", "list", stdout=out)
    assert f"webhook {known.url} of event" in out.getvalue()
    client.force_login(admin)
    failed = EffectReceipt.objects.get(target=str(known.pk))
    pages = [
        client.get(address).content.decode() for address in ("/console/", f"/console/effects/{failed.pk}/")
    ]
    assert [known.url in page for page in pages] == [True, True]


def test_removed_endpoint_ends_its_deliveries(receiver: Receiver) -> None:
    endpoint = make_endpoint(receiver.url)
    cause()
    relay_all()
    endpoint.delete()
    deliver_due()
    assert receiver.received == []
    receipt = EffectReceipt.objects.get()
    assert (receipt.state, receipt.error) == ("refused", "The endpoint was removed.")
