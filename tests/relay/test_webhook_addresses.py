"""Addresses inside our own network are never called, however they are written, and no server keeps us waiting."""

import socket
import threading

import pytest
from pytest_django import Settings

from outbox.addresses import ForbiddenAddress, as_uri, is_public, resolve
from outbox.admin.webhooks import EndpointForm
from outbox.calling import NoAnswer, post
from outbox.models import WebhookEndpoint, WebhookTry
from tests.receiver import Receiver, receiver
from tests.relay.effects import CAUSED, cause, relay_all
from tests.relay.webhooks import deliver_due, loopback_allowed, make_endpoint

__all__ = ["loopback_allowed", "receiver"]


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
    ("typed", "called"),
    [
        ("https://hooks.example.org/a?b=c", "https://hooks.example.org/a?b=c"),
        ("https://bücher.example:8443/Prüfung?q=ü#part", "https://xn--bcher-kva.example:8443/Pr%C3%BCfung?q=%C3%BC"),
        ("http://[2606:4700::1111]:80/", "http://[2606:4700::1111]:80/"),
    ],
)  # fmt: skip
def test_address_goes_over_the_wire_in_ascii(typed: str, called: str) -> None:
    assert as_uri(typed) == called == as_uri(called)


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


@pytest.mark.django_db(transaction=True)
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


@pytest.mark.django_db(transaction=True)
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
