"""Revoked tokens: refused everywhere within the promised time, whatever was read before."""

import datetime as dt
from collections.abc import Callable

import pytest
from django.db import connection

from exams import tokens
from exams.errors import InvalidToken
from gradebook.models import Role, User
from outbox.db import database_now
from tests import factories

pytestmark = pytest.mark.django_db


def switch_off(person: User) -> None:
    person.is_active = False
    person.save()


def set_password(person: User) -> None:
    person.set_password("another one entirely")
    person.save()


def change_role(person: User) -> None:
    User.objects.filter(pk=person.pk).update(role=Role.TEACHER)


def change_school(person: User) -> None:
    person.school = factories.school()
    person.save(update_fields=["school"])


def revoke_by_hand(person: User) -> None:
    User.objects.filter(pk=person.pk).update(tokens_valid_after=database_now())


def behind_our_back(person: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE gradebook_user SET is_active = false WHERE id = %s", [person.pk])


@pytest.fixture
def revocations() -> tokens.Revocations:
    return tokens.Revocations()


def token_of(person: User) -> tokens.Claims:
    return tokens.verify(tokens.issue(person, now=database_now()).access)


@pytest.mark.parametrize(
    "change",
    [switch_off, set_password, change_role, change_school, revoke_by_hand, behind_our_back],
    ids=lambda change: change.__name__,
)
def test_a_token_from_before_the_change_is_refused(
    revocations: tokens.Revocations, change: Callable[[User], None]
) -> None:
    person, neighbour = factories.student(), factories.student()
    old, of_neighbour = token_of(person), token_of(neighbour)
    change(person)
    after = token_of(person)

    revocations.refresh()

    with pytest.raises(InvalidToken, match="revoked"):
        revocations.check(old)
    revocations.check(after)
    revocations.check(of_neighbour)


def test_a_change_that_does_not_matter_revokes_nothing(revocations: tokens.Revocations) -> None:
    person = factories.student()
    claims = token_of(person)
    person.last_login = dt.datetime.now(tz=dt.UTC)
    person.first_name = "Aino"
    person.save()

    revocations.refresh()

    revocations.check(claims)


def test_a_page_that_read_the_person_before_cannot_undo_a_revocation(revocations: tokens.Revocations) -> None:
    person = factories.student()
    claims = token_of(person)
    read_before = User.objects.get(pk=person.pk)
    revoke_by_hand(person)
    read_before.first_name = "Aino"
    read_before.save()

    revocations.refresh()

    with pytest.raises(InvalidToken, match="revoked"):
        revocations.check(claims)


def test_a_token_from_before_switching_on_again_stays_refused(revocations: tokens.Revocations) -> None:
    person = factories.student()
    claims = token_of(person)
    User.objects.filter(pk=person.pk).update(is_active=False)
    User.objects.filter(pk=person.pk).update(is_active=True)

    revocations.refresh()

    with pytest.raises(InvalidToken, match="revoked"):
        revocations.check(claims)


@pytest.mark.django_db(transaction=True)
def test_the_thread_picks_a_revocation_up_within_the_promise() -> None:
    revocations = tokens.Revocations(refresh_seconds=0.05)
    person = factories.student()
    claims = token_of(person)
    revocations.start()
    try:
        assert revocations.wait_until_loaded(tokens.REVOCATION_SECONDS)
        revocations.check(claims)
        switch_off(person)
        assert refused_within(revocations, claims, tokens.REVOCATION_SECONDS)
    finally:
        revocations.stop()


def refused_within(revocations: tokens.Revocations, claims: tokens.Claims, seconds: float) -> bool:
    end = dt.datetime.now(tz=dt.UTC) + dt.timedelta(seconds=seconds)
    while dt.datetime.now(tz=dt.UTC) < end:
        try:
            revocations.check(claims)
        except InvalidToken:
            return True
    return False
