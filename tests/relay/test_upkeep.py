"""Keeping the table of receipts small: what nobody comes back to is forgotten, what waits for a person is not."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models.functions import Now

from outbox.effects.upkeep import KEPT, prune_receipts
from outbox.models import EffectReceipt

pytestmark = pytest.mark.django_db


def test_old_receipts_of_what_was_done_or_refused_are_forgotten_and_failures_stay() -> None:
    for state in ("done", "refused", "failed"):
        for target, age in (("old", KEPT + timedelta(days=1)), ("new", KEPT - timedelta(days=1))):
            EffectReceipt.objects.create(
                event_id=uuid4(), effect="tell", target=target, pos=1, state=state, ended_at=Now() - age
            )

    assert prune_receipts() == 2
    assert sorted(EffectReceipt.objects.values_list("state", "target")) == [
        ("done", "new"), ("failed", "new"), ("failed", "old"), ("refused", "new"),
    ]  # fmt: skip
