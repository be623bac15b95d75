"""A student's own receipts, listed."""

from django.db import transaction
from pytest_django import DjangoAssertNumQueries

from exams.models import Attempt, Submission
from gradebook.models import User
from tests import factories
from tests.exams.api.callers import Caller, read
from tests.sitting import hand_in


def test_receipts_are_listed_latest_first(attempt: Attempt, caller: Caller, student: User) -> None:
    first = hand_in(attempt)
    second_exam = factories.attempt(factories.published_revision(), student)
    second = hand_in(second_exam)
    withdrawn_exam = factories.attempt(factories.published_revision(), student)
    withdrawn = hand_in(withdrawn_exam, origin="server", decision="closed_by_server")
    with transaction.atomic():
        Submission.objects.filter(pk=withdrawn.pk).update(withdrawn_at=withdrawn.accepted_at)

    receipts = read(caller.get("receipts"), 200)

    assert [receipt["id"] for receipt in receipts] == [str(second.pk), str(first.pk)]
    assert receipts[1]["payload_sha256"] == first.payload_sha256


def test_the_list_of_receipts_is_one_read(
    attempt: Attempt, caller: Caller, student: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    hand_in(attempt)
    with django_assert_num_queries(1):
        assert len(read(caller.get("receipts"), 200)) == 1
    for _ in range(2):
        hand_in(factories.attempt(factories.published_revision(), student))
    with django_assert_num_queries(1):
        assert len(read(caller.get("receipts"), 200)) == 3
