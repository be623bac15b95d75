"""A receipt's page says of each fact whether it is signed, and is right about it."""

from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from exams.models import Attempt, Submission
from exams.queries.receipts import describe_receipt, find_place
from exams.receipts import SIGNED_MEMBERS
from gradebook.models import User
from outbox.log.sequencer import sequence_events
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)
NOT_SIGNED = '<section class="receipt__place"'


def read_page(client: Client, submission: Submission) -> tuple[str, str]:
    """Return what stands under "Proof", and what under "Not signed"."""
    page = unescape(client.get(reverse("exams:receipt", args=[submission.pk])).content.decode())
    signed, _, rest = page.partition('aria-labelledby="receipt-proof"')[2].partition(NOT_SIGNED)
    return signed, rest


def test_facts_that_are_signed_stand_apart_from_the_place_in_the_log(
    client: Client, attempt: Attempt, student: User
) -> None:
    submission = hand_in(attempt)
    sequence_events()
    place = find_place(submission)
    assert place is not None
    document = describe_receipt(submission, place)
    client.force_login(student)

    signed, unsigned = read_page(client, submission)

    assert [name for name in SIGNED_MEMBERS if str(document[name]) not in signed] == []
    digest = place.tick_digest.hex()
    assert (digest in signed, digest in unsigned, "Place in the log" in signed) == (False, True, False)
    assert "Not signed: its place in the log" in unsigned


def test_place_follows_in_a_moment_while_the_log_has_not_numbered_it(
    client: Client, attempt: Attempt, student: User
) -> None:
    submission = hand_in(attempt)
    client.force_login(student)

    assert "follows in a moment" in read_page(client, submission)[1]
