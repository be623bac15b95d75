"""Drafts go when they are spent, and stay while an extension may still need them."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from exams.effects.drafts import delete_old_drafts
from exams.models import Attempt, Draft, Origin
from tests.exams.effects.happenings import make_happen
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def draft(attempt: Attempt) -> Draft:
    return Draft.objects.create(attempt=attempt, answers='{"q1":"b"}', token=uuid4(), saved_at=timezone.now())


@pytest.mark.parametrize(("origin", "left"), [(Origin.STUDENT, 0), (Origin.SERVER, 1)])
def test_draft_goes_when_its_student_handed_in_and_stays_when_the_server_did(
    attempt: Attempt, draft: Draft, origin: Origin, left: int
) -> None:
    hand_in(attempt, origin=origin)
    make_happen()
    assert Draft.objects.count() == left


def test_old_drafts_go_but_never_that_of_an_open_attempt(attempt: Attempt, draft: Draft) -> None:
    assert delete_old_drafts() == 0
    hand_in(attempt, origin=Origin.SERVER)
    assert delete_old_drafts() == 0
    Attempt.objects.update(ended_at=Now() - timedelta(days=31))
    assert delete_old_drafts() == 1
