"""Webhooks against a real HTTP server: signed, sent to whom they are for, tried again and logged."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries
from standardwebhooks import Webhook, WebhookVerificationError

from outbox.effects.registry import Hint
from outbox.models import EffectReceipt, WebhookTry
from outbox.webhooks import WEBHOOK
from outbox.webhooks.delivery import list_targets
from outbox.webhooks.secrets import make_secret
from tests.receiver import Receiver, receiver
from tests.relay.effects import CAUSED, cause, list_receipts, relay_all
from tests.relay.webhooks import deliver_due, loopback_allowed, make_due, make_endpoint

__all__ = ["loopback_allowed", "receiver"]
pytestmark = pytest.mark.django_db(transaction=True)


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
