"""Whose events a webhook endpoint is told of: chosen by name, and fixed for the administrator of one school."""

import re
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from gradebook.models import School, User
from outbox.models import WebhookEndpoint, WebhookTry
from outbox.webhooks.secrets import make_secret
from tests import factories
from tests.people import World
from tests.relay.effects import CAUSED

pytestmark = pytest.mark.django_db
ADD, LISTED = (reverse(f"admin:outbox_webhookendpoint_{page}") for page in ("add", "changelist"))


@pytest.fixture
def school_admin(world: World) -> User:
    """A superuser of one school: an administrator of that school only."""
    return factories.admin(username="school_admin", school=world.school)


def make_endpoint(tenant_id: UUID | None) -> WebhookEndpoint:
    return WebhookEndpoint.objects.create(
        url="https://hooks.test/in", kinds=[CAUSED], secret=make_secret(), tenant_id=tenant_id
    )


def read_choices(page: str) -> tuple[list[tuple[str, str]], bool]:
    """Return what the field for the school offers, and whether it can be changed."""
    select = re.search(r'<select name="tenant_id"(.*?)>(.*?)</select>', page, re.DOTALL)
    assert select is not None
    options = re.findall(r'<option value="(.*?)"(?: selected)?>(.*?)</option>', select[2])
    return options, "disabled" not in select[1]


def fill(tenant_id: object) -> dict[str, object]:
    return {"url": "https://hooks.test/in", "tenant_id": str(tenant_id), "kinds": ["MarkChanged"]}


def test_operator_chooses_among_the_schools_by_name(client: Client, admin: User, world: World) -> None:
    School.objects.create(name="Rehearsal", is_rehearsal=True)
    client.force_login(admin)
    schools = sorted(School.objects.filter(is_rehearsal=False), key=lambda school: school.name.casefold())

    options, may_change = read_choices(client.get(ADD).content.decode())
    client.post(ADD, fill(world.other_school.pk))

    assert options == [("", "All schools"), *((str(school.pk), school.name) for school in schools)]
    assert may_change
    assert WebhookEndpoint.objects.get().tenant_id == world.other_school.pk
    assert f'<td class="field-school">{world.other_school.name}' in client.get(LISTED).content.decode()


def test_school_that_does_not_exist_is_refused(client: Client, admin: User) -> None:
    client.force_login(admin)
    page = client.post(ADD, fill(uuid4())).content.decode()
    assert "is not one of the available choices" in page
    assert WebhookEndpoint.objects.count() == 0


def test_endpoint_whose_school_has_no_name_any_more_keeps_it(client: Client, admin: User) -> None:
    gone = uuid4()
    endpoint = make_endpoint(gone)
    client.force_login(admin)
    address = reverse("admin:outbox_webhookendpoint_change", args=[endpoint.pk])
    assert (str(gone), str(gone)) in read_choices(client.get(address).content.decode())[0]
    client.post(address, fill(gone))
    endpoint.refresh_from_db()
    assert (endpoint.tenant_id, endpoint.kinds) == (gone, ["MarkChanged"])


def test_administrator_of_one_school_sets_up_that_schools_only(
    client: Client, school_admin: User, world: World
) -> None:
    client.force_login(school_admin)
    assert not read_choices(client.get(ADD).content.decode())[1]
    for sent in (world.other_school.pk, ""):
        client.post(ADD, fill(sent))
    assert list(WebhookEndpoint.objects.values_list("tenant_id", flat=True)) == [world.school.pk] * 2


def test_administrator_of_one_school_finds_no_other_schools_endpoints(
    client: Client, school_admin: User, world: World
) -> None:
    own, *others = (make_endpoint(pk) for pk in (world.school.pk, world.other_school.pk, None))
    client.force_login(school_admin)
    page = client.get(LISTED).content.decode()
    assert [str(each.pk) in page for each in (own, *others)] == [True, False, False]
    for each in others:
        address = reverse("admin:outbox_webhookendpoint_change", args=[each.pk])
        client.post(address, fill(world.school.pk))
        client.post(LISTED, {"action": "renew_secret", "_selected_action": [str(each.pk)]})
        secret = each.secret
        each.refresh_from_db()
        assert (each.kinds, each.secret) == ([CAUSED], secret)


def test_list_names_schools_in_as_many_queries_for_three_as_for_one(
    client: Client, admin: User, world: World
) -> None:
    client.force_login(admin)
    counts = []
    for more in (1, 2):
        for _ in range(more):
            make_endpoint(world.school.pk)
        with CaptureQueriesContext(connection) as captured:
            client.get(LISTED)
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_endpoint_that_was_tried_is_removed_with_its_log(client: Client, admin: User) -> None:
    endpoint = make_endpoint(None)
    endpoint.log.create(event_id=uuid4(), kind=CAUSED, number=1, took=timedelta(seconds=1))
    client.force_login(admin)
    client.post(reverse("admin:outbox_webhookendpoint_delete", args=[endpoint.pk]), {"post": "yes"})
    assert (WebhookEndpoint.objects.count(), WebhookTry.objects.count()) == (0, 0)
