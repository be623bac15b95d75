"""Signing in makes a session; one that is over goes."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from gradebook.services.sessions import prune_sessions
from outbox.models import PlannedMoment
from outbox.periodic import run_planned

pytestmark = pytest.mark.django_db


def test_sessions_that_are_over_are_forgotten_by_the_work_of_the_day() -> None:
    now = timezone.now()
    for key, left in (("over", timedelta(seconds=-1)), ("running", timedelta(hours=1))):
        Session.objects.create(session_key=key, session_data="", expire_date=now + left)

    run_planned()

    assert PlannedMoment.objects.get(work="old sessions").done == 1
    assert list(Session.objects.values_list("session_key", flat=True)) == ["running"]
    assert prune_sessions() == 0
