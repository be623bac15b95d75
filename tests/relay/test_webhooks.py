"""Webhooks against a real HTTP server: signed, logged, tried again, switched off; and which addresses are never called."""

import json
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import call_command
from django.db.models import F
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, Settings
from standardwebhooks import Webhook, WebhookVerificationError

from gradebook.models import User
from outbox.addresses import ForbiddenAddress, as_uri, is_public, resolve
from outbox.admin.webhooks import EndpointForm
from outbox.calling import NoAnswer, post
from outbox.effects import find_effect
from outbox.effects.failures import list_failed_effects, name_targets
from outbox.effects.registry import Hint, NotNow
from outbox.effects.running import run_due_effects
from outbox.models import EffectReceipt, WebhookEndpoint, WebhookTry
from outbox.webhooks import WEBHOOK, delivery
from outbox.webhooks.delivery import list_targets
from outbox.webhooks.resting import TRIAL, decide_rest, take_turn
from outbox.webhooks.secrets import OVERLAP, end_old_secrets, forget_old_secrets, make_secret, renew_secret
from tests.receiver import Receiver, receiver
from tests.relay.effects import CAUSED, cause, list_receipts, relay_all

__all__ = ["receiver"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def loopback_allowed(settings: Settings) -> Iterator[None]:
    settings.WEBHOOKS_MAY_CALL_PRIVATE = True
    delivery._offered.add(CAUSED)
    yield
    delivery._offered.discard(CAUSED)


def make_endpoint(url: str, **fields: Any) -> WebhookEndpoint:
    return WebhookEndpoint.objects.create(**{"url": url, "kinds": [CAUSED], "secret": make_secret()} | fields)


def deliver_due() -> int:
    effect = find_effect(WEBHOOK)
    assert effect
    count = 0
    while done := run_due_effects([effect], at_most=1):
        count += done
    return count


def make_due() -> None:
    """Let the waits of deliveries and the rests of endpoints be over."""
    EffectReceipt.objects.filter(state="pending").update(due_at=Now())
    WebhookEndpoint.objects.update(rests_until=None)


def test_delivery_is_signed_so_that_the_standards_own_library_accepts_it(receiver: Receiver) -> None:
    endpoint = make_endpoint(receiver.url)
    (event_id,) = cause()
    relay_all()
    deliver_due()
    ((headers, body),) = receiver.received
    assert Webhook(endpoint.secret).verify(body, headers) == json.loads(body)
    assert headers["webhook-id"] == str(event_id)
    assert {
        name: value for name, value in json.loads(body).items() if name not in ("timestamp", "subject")
    } == {
        "type": CAUSED,
        "version": 1,
        "subject_version": 1,
        "data": {"n": 0},
    }
    with pytest.raises(WebhookVerificationError):
        Webhook(make_secret()).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(endpoint.secret).verify(body + b" ", headers)


def is_proof(secret: str, received: tuple[dict[str, str], bytes]) -> bool:
    """Whether a receiver that knows this secret takes the message."""
    headers, body = received
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True


def deliver_one(receiver: Receiver) -> tuple[dict[str, str], bytes]:
    cause()
    relay_all()
    deliver_due()
    return receiver.received[-1]


def test_new_secret_and_the_one_before_both_fit_until_the_old_ones_time_is_over(receiver: Receiver) -> None:
    endpoint = make_endpoint(receiver.url)
    first = endpoint.secret
    second = renew_secret(endpoint=endpoint)
    received = deliver_one(receiver)
    assert len(received[0]["webhook-signature"].split()) == 2
    assert [is_proof(secret, received) for secret in (first, second, make_secret())] == [True, True, False]
    soon, late = OVERLAP - timedelta(minutes=1), OVERLAP
    assert WebhookEndpoint.objects.filter(
        old_secret_until__gt=Now() + soon, old_secret_until__lte=Now() + late
    ).exists()

    WebhookEndpoint.objects.update(old_secret_until=Now())
    received = deliver_one(receiver)
    assert [is_proof(secret, received) for secret in (first, second)] == [False, True]

    assert [forget_old_secrets(), forget_old_secrets()] == [1, 0]
    endpoint.refresh_from_db()
    assert (endpoint.secret, endpoint.old_secret, endpoint.old_secret_until) == (second, "", None)


def test_only_the_latest_old_secret_signs_along_and_a_leaked_one_ends_at_once(receiver: Receiver) -> None:
    endpoint = make_endpoint(receiver.url)
    first = endpoint.secret
    second, third = renew_secret(endpoint=endpoint), renew_secret(endpoint=endpoint)
    assert forget_old_secrets() == 0, "its time is not over"
    assert [is_proof(secret, deliver_one(receiver)) for secret in (first, second, third)] == [
        False,
        True,
        True,
    ]

    assert end_old_secrets(endpoints=WebhookEndpoint.objects.all()) == 1
    received = deliver_one(receiver)
    assert [is_proof(secret, received) for secret in (second, third)] == [False, True]


def test_each_endpoint_gets_what_it_asked_for_of_its_own_tenant(receiver: Receiver) -> None:
    mine, other = uuid4(), uuid4()
    endpoints = {
        make_endpoint(receiver.url, tenant_id=mine).pk: [mine],
        make_endpoint(receiver.url).pk: [mine, other, None],
        make_endpoint(receiver.url, kinds=["SomethingElse"]).pk: [],
        make_endpoint(receiver.url, disabled_at=Now()).pk: [],
    }
    hints = [Hint(pos, uuid4(), CAUSED, tenant) for pos, tenant in enumerate((mine, other, None), start=1)]
    targets = list_targets(hints)
    assert {
        pk: [hint.tenant_id for hint, target in targets if target == str(pk)] for pk in endpoints
    } == endpoints


@pytest.mark.parametrize("events", [1, 3])
def test_who_is_to_be_told_is_one_query_for_a_whole_batch(
    events: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(events):
        make_endpoint("https://hooks.test/")
    hints = [Hint(pos, uuid4(), CAUSED, None) for pos in range(1, events + 1)]
    with django_assert_num_queries(1):
        assert len(list_targets(hints)) == events * events


def test_failed_delivery_is_tried_again_with_the_same_id_and_every_try_is_logged(receiver: Receiver) -> None:
    endpoint = make_endpoint(receiver.url)
    receiver.answers = [(500, {}), (302, {"Location": receiver.url}), (200, {})]
    (event_id,) = cause()
    relay_all()
    for _ in range(4):
        deliver_due()
        make_due()
    assert [headers["webhook-id"] for headers, _ in receiver.received] == [str(event_id)] * 3
    assert len({body for _, body in receiver.received}) == 1
    log = WebhookTry.objects.order_by("number").values_list(
        "endpoint", "event_id", "number", "status", "error"
    )
    assert list(log) == [
        (endpoint.pk, event_id, 1, 500, "It answered 500."),
        (endpoint.pk, event_id, 2, 302, "It answered 302."),
        (endpoint.pk, event_id, 3, 200, ""),
    ]
    endpoint.refresh_from_db()
    assert (endpoint.failures_in_a_row, endpoint.first_failure_at) == (0, None)
    assert list_receipts() == [(event_id, WEBHOOK, "done", 3)]


def test_retry_after_is_respected(receiver: Receiver) -> None:
    make_endpoint(receiver.url)
    receiver.answers = [(429, {"Retry-After": "3600"})]
    cause()
    relay_all()
    deliver_due()
    assert EffectReceipt.objects.filter(due_at__gt=Now() + timedelta(minutes=59)).count() == 1


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


def list_tries() -> list[tuple[str, int | None]]:
    """Return the delivery log in its order: which of two endpoints, and what it answered."""
    log = WebhookTry.objects.order_by("pk").values_list("endpoint__url", "status")
    return [(url.rpartition("/")[2], status) for url, status in log]


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


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "255.255.255.255", "224.0.0.1", "::", "::1", "fe80::1%eth0", "fd00::1", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:169.254.169.254", "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b::a01:203", "::127.0.0.1",
    ],
)  # fmt: skip
def test_address_inside_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::101:101"])
def test_address_outside_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://2130706433:{port}/", "http://[::1]:{port}/",
     "http://0x7f.1:{port}/", "file:///etc/passwd", "gopher://127.0.0.1:{port}/"],
)  # fmt: skip
def test_address_inside_is_never_called_however_it_is_written(
    receiver: Receiver, settings: Settings, url: str
) -> None:
    settings.WEBHOOKS_MAY_CALL_PRIVATE = False
    make_endpoint(url.format(port=receiver.server.server_port))
    cause()
    relay_all()
    deliver_due()
    assert receiver.received == []
    assert WebhookTry.objects.get().status is None


@pytest.mark.parametrize(
    ("typed", "called"),
    [
        ("https://hooks.example.org/a?b=c", "https://hooks.example.org/a?b=c"),
        ("https://bücher.example:8443/Prüfung?q=ü#part", "https://xn--bcher-kva.example:8443/Pr%C3%BCfung?q=%C3%BC"),
        ("http://[2606:4700::1111]:80/", "http://[2606:4700::1111]:80/"),
    ],
)  # fmt: skip
def test_address_goes_over_the_wire_in_ascii(typed: str, called: str) -> None:
    assert as_uri(typed) == called == as_uri(called)


@pytest.mark.parametrize(
    "url",
    ["https://hooks.test:99999/", "https://hooks.test:0/", f"https://{'a' * 64}.test/", "https://a..test/", "https:///path",
     "https://[::1/", "https://me:secret@hooks.test/", "ftp://hooks.test/", "hooks.test"],
)  # fmt: skip
def test_address_that_can_never_be_called_is_refused_in_the_form_and_a_failed_try_if_it_got_past_it(
    url: str,
) -> None:
    with pytest.raises(ForbiddenAddress):
        as_uri(url)
    form = EndpointForm({"url": url, "kinds": [CAUSED]})
    assert list(form.errors) == ([] if url == "hooks.test" else ["url"]), (
        "https is what is meant without a scheme"
    )
    make_endpoint(url)
    cause()
    relay_all()
    deliver_due()
    assert [(status, bool(error)) for status, error in WebhookTry.objects.values_list("status", "error")] == [
        (None, True)
    ]
    assert WebhookEndpoint.objects.get().failures_in_a_row == 1


def test_name_is_judged_by_every_address_it_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in ("1.1.1.1", "10.0.0.1")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    with pytest.raises(ForbiddenAddress, match=r"^hooks.test leads to an address that is not public.$"):
        resolve("hooks.test", 443, private=False)


def test_server_that_drips_its_answer_runs_into_the_time_for_the_whole_exchange() -> None:
    def drip(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            try:
                while not ended.wait(0.05):
                    connection.sendall(b"H")
            except OSError:
                pass

    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(NoAnswer):
            post(url, body=b"{}", headers={}, seconds=0.5, private=True)
        ended.set()
        thread.join()


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
