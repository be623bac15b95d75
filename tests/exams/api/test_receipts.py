"""`GET /api/v1/receipts/{id}` and `GET /api/v1/receipt-keys`."""

import json

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from uuid_utils.compat import uuid7

from exams.models import Attempt, Submission
from exams.receipt_keys import get_key_ring, read_key_set
from exams.receipts import Receipt, sign_receipt, verify_receipt
from gradebook.models import User
from outbox.log.sequencer import sequence_events
from outbox.models import Tick
from tests.exams.api.callers import read, refused, with_session, with_token
from tests.sitting import hand_in


@pytest.fixture
def submission(attempt: Attempt) -> Submission:
    """What the student handed in."""
    return hand_in(attempt, {"q": "a"})


def test_receipt_is_the_signed_one_before_the_log_has_numbered_it(
    submission: Submission, student: User
) -> None:
    document = read(with_token(student).get(f"receipts/{submission.pk}"), 200)

    assert document == sign_receipt(Receipt.of(submission), get_key_ring())


@pytest.mark.django_db(transaction=True)
def test_receipt_gains_its_place_in_the_log_and_keeps_its_signature(
    submission: Submission, student: User
) -> None:
    before = read(with_session(student).get(f"receipts/{submission.pk}"), 200)
    sequence_events()

    after = read(with_token(student).get(f"receipts/{submission.pk}"), 200)

    tick = Tick.objects.get()
    assert after == {
        **before,
        "position": {"epoch": tick.epoch, "shard": 0, "pos": tick.last_pos},
        "tick": {"id": tick.tick_id, "digest": bytes(tick.digest).hex()},
    }
    verify_receipt(after, get_key_ring().public_keys())


def test_receipt_costs_two_reads(
    submission: Submission, student: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    caller = with_token(student)

    with django_assert_num_queries(2):
        caller.get(f"receipts/{submission.pk}")


def test_receipt_of_somebody_else_is_not_found(
    submission: Submission, other_student: User, teacher: User, other_school_teacher: User, admin: User
) -> None:
    unknown = refused(with_token(other_student).get(f"receipts/{uuid7()}"), 404)
    for person in (other_student, teacher, other_school_teacher, admin):
        assert refused(with_token(person).get(f"receipts/{submission.pk}"), 404) == unknown


def test_receipt_is_nothing_for_nobody(submission: Submission) -> None:
    assert Client().get(f"/api/v1/receipts/{submission.pk}").status_code == 401


def test_receipt_keys_are_everybodys_and_verify_a_receipt(submission: Submission) -> None:
    response = Client().get("/api/v1/receipt-keys")

    keys = read_key_set(json.loads(response.content))
    assert (response.status_code, response["Cache-Control"]) == (200, "public, max-age=3600")
    assert keys == get_key_ring().public_keys()
    verify_receipt(sign_receipt(Receipt.of(submission), get_key_ring()), keys)
    assert b"PRIVATE" not in response.content


def test_receipt_keys_cost_no_read(db: None, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        Client().get("/api/v1/receipt-keys")
