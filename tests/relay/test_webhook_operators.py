"""What an operator does with endpoints in the admin: sets one up, renews its secret, switches it on again, reads its log."""

from uuid import UUID

import pytest
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from gradebook.models import User
from outbox.models import WebhookEndpoint
from tests.receiver import Receiver, receiver
from tests.relay.effects import CAUSED, cause, relay_all
from tests.relay.webhooks import deliver_due, loopback_allowed, make_endpoint

__all__ = ["loopback_allowed", "receiver"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_operator_sets_up_an_endpoint_and_sees_its_secret_once(client: Client, admin: User) -> None:
    client.force_login(admin)
    form = {
        "url": "https://hooks.test/in",
        "tenant_id": "",
        "kinds": [CAUSED, "MarkChanged"],
        "description": "LMS",
    }
    page = client.post(reverse("admin:outbox_webhookendpoint_add"), form, follow=True)
    endpoint = WebhookEndpoint.objects.get()
    assert (endpoint.url, sorted(endpoint.kinds)) == ("https://hooks.test/in", ["MarkChanged", CAUSED])
    assert endpoint.secret in page.content.decode()
    again = client.get(reverse("admin:outbox_webhookendpoint_change", args=[endpoint.pk])).content.decode()
    assert endpoint.secret not in again
    assert "In use." in again


def test_operator_renews_a_secret_and_ends_the_old_one(client: Client, admin: User) -> None:
    endpoint = make_endpoint("https://hooks.test/")
    first, address = endpoint.secret, reverse("admin:outbox_webhookendpoint_changelist")
    client.force_login(admin)
    chosen = {"_selected_action": [str(endpoint.pk)]}
    page = client.post(address, {"action": "renew_secret"} | chosen, follow=True).content.decode()
    endpoint.refresh_from_db()
    assert (endpoint.old_secret, endpoint.secret in page, first in page) == (first, True, False)
    assert "For 24 hours messages are signed with the old secret too." in page
    assert "In use. The old secret signs until " in page

    client.post(address, {"action": "end_old_secret"} | chosen)
    endpoint.refresh_from_db()
    assert (endpoint.old_secret, endpoint.old_secret_until) == ("", None)


def test_operator_is_told_of_endpoints_that_were_switched_off_and_switches_them_on(
    client: Client, admin: User
) -> None:
    endpoint = make_endpoint(
        "https://hooks.test/",
        disabled_at=Now(),
        disabled_because="The last try: It answered 503.",
        failures_in_a_row=20,
    )
    client.force_login(admin)
    address = reverse("admin:outbox_webhookendpoint_changelist")
    assert "1 switched off after failing for a day" in client.get(address).content.decode()
    client.post(address, {"action": "switch_on", "_selected_action": [str(endpoint.pk)]})
    endpoint.refresh_from_db()
    assert (endpoint.disabled_at, endpoint.failures_in_a_row) == (None, 0)


@pytest.mark.parametrize("who", ["teacher", "student"])
def test_nobody_else_sees_endpoints(request: pytest.FixtureRequest, client: Client, who: str) -> None:
    person: User = request.getfixturevalue(who)
    person.is_staff = True
    person.save()
    client.force_login(person)
    assert client.get(reverse("admin:outbox_webhookendpoint_changelist")).status_code == 403


def test_log_shows_the_latest_tries_of_an_endpoint(client: Client, admin: User, receiver: Receiver) -> None:
    endpoint = make_endpoint(receiver.url)
    (event_id,) = cause()
    relay_all()
    deliver_due()
    client.force_login(admin)
    page = client.get(reverse("admin:outbox_webhookendpoint_change", args=[endpoint.pk])).content.decode()
    assert f"{CAUSED}  {event_id}  try 1  204" in page
    assert isinstance(event_id, UUID)
